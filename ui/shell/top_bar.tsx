import { useState } from "preact/hooks";
import { Button, Switch } from "../controls/button.tsx";
import { Popover } from "../controls/overlay.tsx";
import { Select } from "../controls/field.tsx";
import { type Key, type Language, language, LANGUAGES, t } from "../i18n/mod.ts";
import { act, link, online } from "../lib/server.ts";
import {
  type Accent,
  accent,
  ACCENTS,
  layout,
  setAccent,
  setLanguage,
  setLayout,
  setTheme,
  type Theme,
  theme,
  THEMES,
} from "../lib/settings.ts";
import { keysOf } from "../lib/shortcuts.ts";
import { asks, calls, outdated, server } from "../lib/store.ts";
import { offline } from "../panes/toolbar.tsx";

/** Each workspace is a document of its own. */
export const WORKSPACES: readonly { href: string; label: Key }[] = [{ href: "/devices", label: "nav.devices" }];

const THEME_KEYS: Readonly<Record<Theme, Key>> = {
  system: "theme.system",
  light: "theme.light",
  dark: "theme.dark",
  contrast: "theme.contrast",
};
const ACCENT_KEYS: Readonly<Record<Accent, Key>> = {
  teal: "accent.teal",
  ocean: "accent.ocean",
  iris: "accent.iris",
  rose: "accent.rose",
  copper: "accent.copper",
  graphite: "accent.graphite",
};
/** A language names itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: "English", zh: "简体中文" };

function ServerChip() {
  const state = link.value;
  if (state.kind === "online") {
    return (
      <span class="chip wide" role="status">
        <span class="dot on" />
        {t("server.online")}
      </span>
    );
  }
  return (
    <span class={`chip ${state.kind === "gone" ? "bad" : "wait"}`} role="status">
      <span class={state.kind === "gone" ? "dot bad" : "dot wait"} />
      {state.kind === "gone" ? state.refused ? t("server.refused") : t("server.gone") : t("server.connecting")}
    </span>
  );
}

/** Agents at a glance; a click shows what they do. Folded away, the right column leaves this. */
function AgentsChip() {
  const view = server.value;
  const waiting = asks.value.length;
  const running = calls.value.filter((c) => c.ms === null && c.kind === "agent").length;
  const text = !view
    ? t("agents.none")
    : waiting > 0
    ? t("agents.waiting", { n: waiting })
    : view.paused
    ? t("agents.paused")
    : view.sessions === 0
    // An agent of the newer kind has no session.
    ? t(view.hasAgents ? "agents.active" : "agents.none")
    : running > 0
    ? t("agents.working", { n: view.sessions })
    : t(view.readOnly ? "agents.connectedReadOnly" : "agents.connected", { n: view.sessions });
  const dot = waiting > 0 || view?.paused ? "dot wait" : view?.hasAgents ? "dot ai" : "dot off";
  return (
    <Button
      path="global.top.agents"
      label={t("agents.chip", { state: text })}
      class="chip"
      look="quiet"
      expanded={layout.value.side && layout.value.tab === "agents"}
      onClick={() => setLayout({ side: !(layout.peek().side && layout.peek().tab === "agents"), tab: "agents" })}
    >
      <span class={dot} />
      {text}
    </Button>
  );
}

export function PauseButton() {
  const paused = server.value?.paused === true;
  const label = paused ? t("agents.resume") : t("agents.pause");
  return (
    <Button
      path="mcp.agents.pause"
      label={label}
      icon={paused ? "play" : "pause"}
      keys={keysOf("pause")}
      pressed={paused}
      personOnly
      disabledReason={offline()}
      onClick={() => act("server.pauseAgents", { on: !paused })}
    >
      {label}
    </Button>
  );
}

function LookMenu({ onClose }: { onClose: () => void }) {
  return (
    <Popover label={t("look.title")} under="global.top.look" onClose={onClose}>
      <div class="menu">
        <fieldset>
          <legend>{t("look.theme")}</legend>
          <Select
            class="wide"
            path="global.look.theme"
            label={t("look.theme")}
            value={theme.value}
            options={THEMES.map((one) => ({ value: one, label: t(THEME_KEYS[one]) }))}
            onChange={setTheme}
          />
        </fieldset>
        <fieldset>
          <legend>{t("look.accent")}</legend>
          <div class="swatches">
            {ACCENTS.map((one) => (
              <Button
                key={one}
                path={`global.look.accent-${one}`}
                label={t(ACCENT_KEYS[one])}
                pressed={accent.value === one}
                onClick={() => setAccent(one)}
              >
                <Swatch accent={one} />
              </Button>
            ))}
          </div>
        </fieldset>
      </div>
    </Popover>
  );
}

/** Shows another accent's colour in the theme of now, by wearing its attributes. */
function Swatch({ accent: one }: { accent: Accent }) {
  const root = document.documentElement.dataset;
  return (
    <span data-theme={root.theme} data-accent={one} style={{ display: "grid", background: "none" }}>
      <i />
    </span>
  );
}

export function TopBar({ onSheet }: { onSheet: () => void }) {
  const [look, setLook] = useState(false);
  const view = server.value;
  const here = typeof location === "undefined" ? "/devices" : location.pathname;
  return (
    <header class="top">
      <Button
        path="global.top.rail"
        label={t("top.rail")}
        icon="rail"
        keys={keysOf("rail")}
        look="quiet"
        expanded={layout.value.rail}
        onClick={() => setLayout({ rail: !layout.peek().rail })}
      />
      <h1 class="brand">Fieldbench</h1>
      <nav aria-label={t("nav.workspaces")} class="wide">
        {WORKSPACES.map((w) => (
          <a key={w.href} href={w.href} aria-current={here === w.href || WORKSPACES.length === 1 ? "page" : undefined}>
            {t(w.label)}
          </a>
        ))}
      </nav>
      <span class="grow" />
      <ServerChip />
      <AgentsChip />
      <Switch
        path="mcp.agents.readOnly"
        label={t("agents.readOnly")}
        class={`wide${view?.readOnly ? " warned" : ""}`}
        on={view?.readOnly === true}
        disabledReason={offline()}
        description={t("agents.readOnlyHint")}
        onChange={(on) => act("server.setReadOnly", { on })}
      />
      <PauseButton />
      <span class="sep wide" />
      <Button
        path="global.top.connect"
        label={t("top.connect")}
        keys={keysOf("connect")}
        look="quiet"
        class="wide"
        onClick={() => setLayout({ side: true, tab: "connect" })}
      >
        {t("top.connect")}
      </Button>
      <Button
        path="global.top.look"
        label={t("look.title")}
        icon="moon"
        look="quiet"
        popup="dialog"
        expanded={look}
        onClick={() => setLook(!look)}
      />
      <LanguageButton />
      <Button
        path="global.top.shortcuts"
        label={t("top.shortcuts")}
        icon="keyboard"
        keys={keysOf("sheet")}
        look="quiet"
        class="wide"
        onClick={onSheet}
      />
      <Button
        path="global.top.side"
        label={t("top.side")}
        icon="side"
        keys={keysOf("side")}
        look="quiet"
        expanded={layout.value.side}
        onClick={() => setLayout({ side: !layout.peek().side })}
      />
      {look && <LookMenu onClose={() => setLook(false)} />}
    </header>
  );
}

function LanguageButton() {
  const next = LANGUAGES.find((l) => l !== language.value) ?? "en";
  return (
    <Button
      path="global.top.language"
      label={t("top.language", { name: LANGUAGE_NAMES[next] })}
      look="quiet"
      onClick={() => setLanguage(next)}
    >
      <span lang={next === "zh" ? "zh-CN" : "en"}>{next === "zh" ? "中文" : "English"}</span>
    </Button>
  );
}

/** The server went away: what is kept, what happens now, what can be done. */
export function GoneBanner({ onRetry }: { onRetry: () => void }) {
  const state = link.value;
  if (online.value || state.kind !== "gone") return null;
  return (
    <div class="banner" role="alert">
      <b>{state.refused ? t("gone.refused") : t("gone.title")}</b>
      <span class="grow">
        {state.refused ? t("gone.refusedText") : state.tries > 3 ? t("gone.long") : t("gone.short")}
      </span>
      <Button path="global.banner.retry" label={t("gone.retry")} onClick={onRetry}>{t("gone.retry")}</Button>
    </div>
  );
}

/** A server of another version: this page may not understand it. */
export function OutdatedBanner() {
  if (!outdated.value || !online.value) return null;
  return (
    <div class="banner warned" role="status">
      <b>{t("outdated.title")}</b>
      <span class="grow">{t("outdated.text")}</span>
      <Button path="global.banner.reload" label={t("outdated.reload")} onClick={() => location.reload()}>
        {t("outdated.reload")}
      </Button>
    </div>
  );
}

/** Agents are held: said where it cannot be missed, with the way out. */
export function PausedBanner() {
  const view = server.value;
  if (!online.value || !view?.paused) return null;
  return (
    <div class="banner warned" role="status">
      <b>{t("paused.title")}</b>
      <span class="grow">{t("paused.text")}</span>
      <Button
        path="mcp.agents.resume"
        label={t("agents.resume")}
        personOnly
        onClick={() => act("server.pauseAgents", { on: false })}
      >
        {t("agents.resume")}
      </Button>
    </div>
  );
}
