import { Button } from "../controls/button.tsx";
import { Dialog } from "../controls/overlay.tsx";
import { type Key, t } from "../i18n/mod.ts";
import { setTourDone } from "../lib/settings.ts";
import { FIXED_KEYS, type ShortcutGroup, SHORTCUTS, shown } from "../lib/shortcuts.ts";

const GROUPS: readonly { id: ShortcutGroup; label: Key }[] = [
  { id: "pane", label: "keys.groupPane" },
  { id: "log", label: "keys.groupLog" },
  { id: "send", label: "keys.groupSend" },
  { id: "page", label: "keys.groupPage" },
];

export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t("top.shortcuts")} name="shortcuts" onClose={onClose}>
      <div class="keys">
        {GROUPS.map((group) => (
          <>
            <h3 key={group.id}>{t(group.label)}</h3>
            {[...SHORTCUTS, ...FIXED_KEYS].filter((one) => one.group === group.id).map((one) => (
              <div key={one.keys}>
                <span>{t(one.label)}</span>
                <kbd>{shown(one.keys)}</kbd>
              </div>
            ))}
          </>
        ))}
      </div>
      <div style={{ marginTop: "14px" }}>
        <Button
          path="dialog.shortcuts.tour"
          label={t("keys.tour")}
          onClick={() => {
            onClose();
            setTourDone(false);
          }}
        >
          {t("keys.tour")}
        </Button>
      </div>
    </Dialog>
  );
}
