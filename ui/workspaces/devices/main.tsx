/** The door of the Devices workspace. */
import { render } from "preact";
import { answerCommands } from "../../controls/commands.ts";
import { t } from "../../i18n/mod.ts";
import { Connection } from "../../lib/connection.ts";
import { setConnection } from "../../lib/server.ts";
import { readTour, startSettings } from "../../lib/settings.ts";
import { startShortcuts } from "../../lib/shortcuts.ts";
import { ready, second, takeHello, takeState } from "../../lib/store.ts";
import { showPane, Work } from "../../panes/work.tsx";
import { closeDrawers, Shell } from "../../shell/shell.tsx";

/** Until the server has spoken there is nothing true to show. */
function Devices() {
  return (
    <Shell>
      {ready.value ? <Work /> : (
        <main class="work" id="work" aria-label={t("work.title")}>
          <div class="empty grow" role="status">
            <b>{t("server.connecting")}</b>
          </div>
        </main>
      )}
    </Shell>
  );
}

startSettings();
const connection = new Connection();
setConnection(connection);
connection.on("hello", (hello) => {
  const first = !ready.peek();
  takeHello(hello);
  if (first) readTour(hello.state.settings);
  if (document.hasFocus()) connection.focus();
});
connection.on("state", takeState);
answerCommands(connection, showPane);
startShortcuts(showPane);
setInterval(() => second.value++, 1000);

const focused = () => connection.focus();
addEventListener("focus", focused);
document.addEventListener("pointerdown", focused, { capture: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) closeDrawers();
});
// A file that misses its pane must not replace the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());

const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<Devices />, root);
}
connection.connect();
