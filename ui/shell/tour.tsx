/** Five steps at the first run. It covers nothing, takes no keys, and can be left at any time. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import { find, panePath } from "../controls/registry.ts";
import { type Key, t } from "../i18n/mod.ts";
import { setTourDone } from "../lib/settings.ts";

interface Step {
  title: Key;
  text: Key;
  /** Control that it points at. */
  path: string;
}

const STEPS: readonly Step[] = [
  { title: "tour.port", text: "tour.portText", path: panePath("main", "conn", "portSelect") },
  { title: "tour.start", text: "tour.startText", path: panePath("main", "conn", "start") },
  { title: "tour.send", text: "tour.sendText", path: panePath("main", "send", "data") },
  { title: "tour.agents", text: "tour.agentsText", path: "global.top.agents" },
  { title: "tour.keys", text: "tour.keysText", path: "global.top.shortcuts" },
];

const CARD = { width: 320, height: 168 };

export function Tour() {
  const [at, setAt] = useState(0);
  const [place, setPlace] = useState({ left: "16px", top: "60px" });
  const step = STEPS[at];
  useLayoutEffect(() => {
    const element = step && find(step.path)?.element;
    if (!element) return;
    const settle = () => {
      const box = element.getBoundingClientRect();
      const left = Math.max(12, Math.min(box.left, innerWidth - CARD.width - 12));
      const below = box.bottom + CARD.height + 16 < innerHeight;
      setPlace({ left: `${left}px`, top: `${below ? box.bottom + 10 : Math.max(50, box.top - CARD.height - 10)}px` });
    };
    settle();
    element.dataset.toured = "";
    addEventListener("resize", settle);
    return () => {
      delete element.dataset.toured;
      removeEventListener("resize", settle);
    };
  }, [at]);
  useEffect(() => {
    const leave = (event: KeyboardEvent) => {
      if (event.key === "Escape") setTourDone(true);
    };
    document.addEventListener("keydown", leave);
    return () => document.removeEventListener("keydown", leave);
  }, []);
  if (!step) return null;
  const last = at === STEPS.length - 1;
  return (
    <section class="tour" aria-label={t("tour.title")} style={place}>
      <h2>{t(step.title)}</h2>
      <p aria-live="polite">{t(step.text)}</p>
      <div class="acts">
        <span>{t("tour.step", { n: at + 1, of: STEPS.length })}</span>
        {!last && (
          <Button path="dialog.tour.skip" label={t("tour.skip")} look="quiet" onClick={() => setTourDone(true)}>
            {t("tour.skip")}
          </Button>
        )}
        {at > 0 && (
          <Button path="dialog.tour.back" label={t("tour.back")} onClick={() => setAt(at - 1)}>{t("tour.back")}</Button>
        )}
        <Button
          path="dialog.tour.next"
          label={last ? t("tour.done") : t("tour.next")}
          look="primary"
          onClick={() => last ? setTourDone(true) : setAt(at + 1)}
        >
          {last ? t("tour.done") : t("tour.next")}
        </Button>
      </div>
    </section>
  );
}
