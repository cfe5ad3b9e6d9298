/** All channels of the log, with rates, losses and a search over everything that is held. */
import { useRef, useState } from "preact/hooks";
import type { ChannelView } from "../../src/core/page_protocol.ts";
import type { OutputOf } from "../../tools/mod.ts";
import { Button } from "../controls/button.tsx";
import { Dialog } from "../controls/overlay.tsx";
import { Icon } from "../controls/icon.tsx";
import { TextField } from "../controls/field.tsx";
import { pathPart } from "../controls/registry.ts";
import { run } from "../controls/run.ts";
import { t } from "../i18n/mod.ts";
import { bytes, rate, timeOfDay } from "../lib/format.ts";
import { act, call } from "../lib/server.ts";
import { channels } from "../lib/store.ts";
import { LogView } from "../log/log_view.tsx";
import { copy, download } from "../panes/actions.ts";
import type { LogHandle } from "../panes/log_seam.ts";
import { offline } from "../panes/toolbar.tsx";

type Hits = OutputOf<"log_search">;

function Channel({ channel, open, onToggle }: { channel: ChannelView; open: boolean; onToggle: () => void }) {
  return (
    <li>
      <Button
        path={`global.logs.open-${pathPart(channel.name)}`}
        label={t("logs.open", { channel: channel.name })}
        class="chan"
        ownName
        tool="log_tail"
        expanded={open}
        onClick={onToggle}
      >
        <code class="cut">{channel.name}</code>
        <span class="num">{channel.rate > 0 ? rate(channel.rate) : ""}</span>
        <small>
          {t("logs.lines", { n: channel.lines, size: bytes(channel.bytes) })}
          {channel.seqTo !== null && channel.seqFrom !== null && channel.lines > 0
            ? `, ${channel.seqFrom}–${channel.seqTo}`
            : ""}
          {channel.dropped > 0 && <span class="warned">, {t("count.dropped", { n: channel.dropped })}</span>}
          {channel.warnOrError > 0 && <span class="warned">, {t("logs.warnings", { n: channel.warnOrError })}</span>}
        </small>
      </Button>
      {open && <ChannelLog channel={channel.name} />}
    </li>
  );
}

function ChannelLog({ channel }: { channel: string }) {
  const handle = useRef<LogHandle | null>(null);
  const [follow, setFollow] = useState(true);
  const part = pathPart(channel);
  return (
    <div class="chan-view">
      <div class="acts">
        <Button
          path={`global.logs.copy-${part}`}
          label={t("view.copy")}
          icon="copy"
          look="quiet"
          onClick={() => copy(handle.current?.copyText() ?? "")}
        />
        <Button
          path={`global.logs.save-${part}`}
          label={t("view.save")}
          icon="save"
          look="quiet"
          disabledReason={offline()}
          onClick={async () => {
            const { url, name } = await act("log.saveAs", { channel });
            download(url, name);
          }}
        />
        <span class="grow" />
        <Button
          path={`global.logs.clear-${part}`}
          label={t("logs.clear", { channel })}
          look="quiet"
          tool="log_clear"
          disabledReason={offline()}
          onClick={() => call("log_clear", { channel })}
        >
          {t("logs.clearShort")}
        </Button>
      </div>
      <LogView
        pane={channel}
        channelRx={channel}
        channelTx={null}
        view="text"
        follow={follow}
        onFollow={setFollow}
        lineNumbers={false}
        timestamps
        echo={false}
        cleared={{ rx: 0, tx: 0 }}
        handle={handle}
      />
    </div>
  );
}

export function LogCentre() {
  const [open, setOpen] = useState<string | null>(null);
  const [pattern, setPattern] = useState("");
  const [regex, setRegex] = useState(false);
  const [exactCase, setExactCase] = useState(false);
  const [hits, setHits] = useState<Hits | null>(null);
  const [searching, setSearching] = useState(false);
  const [asking, setAsking] = useState(false);
  const [showEmpty, setShowEmpty] = useState(false);
  const toggle = (name: string) => setOpen(open === name ? null : name);
  const isUsed = (c: ChannelView) => c.lines > 0 || c.dropped > 0 || c.name === open;
  const used = channels.value.filter(isUsed);
  const empty = channels.value.filter((c) => !isUsed(c));
  const search = async () => {
    if (pattern === "") return setHits(null);
    setSearching(true);
    try {
      const { output } = await call("log_search", { pattern, regex, caseSensitive: exactCase, limit: 200 });
      setHits(output);
    } finally {
      setSearching(false);
    }
  };
  return (
    <div class="centre">
      <form
        role="search"
        aria-label={t("logs.search")}
        onSubmit={(event) => {
          event.preventDefault();
          run("global.logs.search", search);
        }}
      >
        <TextField
          path="global.logs.pattern"
          label={t("logs.pattern")}
          placeholder={t("logs.pattern")}
          type="search"
          tool="log_search"
          value={pattern}
          maxLength={512}
          onInput={setPattern}
        />
        <Button
          path="global.logs.case"
          label={t("logs.case")}
          icon="letterCase"
          look="quiet"
          pressed={exactCase}
          onClick={() => setExactCase(!exactCase)}
        />
        <Button
          path="global.logs.regex"
          label={t("logs.regex")}
          icon="regex"
          look="quiet"
          pressed={regex}
          onClick={() => setRegex(!regex)}
        />
        <Button
          path="global.logs.search"
          label={t("logs.searchGo")}
          icon="search"
          tool="log_search"
          disabledReason={offline() ?? (pattern === "" ? t("why.noPattern") : searching ? t("why.searching") : null)}
          onClick={search}
        />
      </form>
      {hits ? <HitList hits={hits} pattern={pattern} onClose={() => setHits(null)} /> : (
        <>
          <ul aria-label={t("logs.title")}>
            {used.map((c) => (
              <Channel
                key={c.name}
                channel={c}
                open={open === c.name}
                onToggle={() => toggle(c.name)}
              />
            ))}
            {empty.length > 0 && (
              <li>
                <Button
                  path="global.logs.showEmpty"
                  label={t("logs.empty", { n: empty.length })}
                  class="chan"
                  ownName
                  expanded={showEmpty}
                  onClick={() => setShowEmpty(!showEmpty)}
                >
                  <span class="soft">{t("logs.empty", { n: empty.length })}</span>
                  <Icon name={showEmpty ? "up" : "down"} />
                </Button>
              </li>
            )}
            {showEmpty &&
              empty.map((c) => (
                <Channel
                  key={c.name}
                  channel={c}
                  open={open === c.name}
                  onToggle={() => toggle(c.name)}
                />
              ))}
          </ul>
          <div class="hint">
            <p>{t("logs.hint")}</p>
            <div class="acts">
              <Button
                path="global.logs.clearAll"
                label={t("logs.clearAll")}
                tool="log_clear"
                disabledReason={offline()}
                onClick={() => setAsking(true)}
              >
                {t("logs.clearAll")}
              </Button>
            </div>
          </div>
        </>
      )}
      {asking && <ClearAll onClose={() => setAsking(false)} />}
    </div>
  );
}

/** What is erased is gone for everyone: asked once more. */
function ClearAll({ onClose }: { onClose: () => void }) {
  const lines = channels.value.reduce((n, one) => n + one.lines, 0);
  return (
    <Dialog title={t("logs.clearAllTitle")} name="clearAll" onClose={onClose}>
      <p>{t("logs.clearAllText", { n: lines })}</p>
      <div class="choices">
        <Button path="dialog.clearAll.cancel" label={t("pane.cancel")} onClick={onClose}>{t("pane.cancel")}</Button>
        <Button
          path="dialog.clearAll.clear"
          label={t("logs.clearAll")}
          look="primary"
          tool="log_clear"
          onClick={async () => {
            await call("log_clear", {});
            onClose();
          }}
        >
          {t("logs.clearAll")}
        </Button>
      </div>
    </Dialog>
  );
}

/** Time of a hit in local time; the tool gives it as ISO 8601. */
const localTime = (ts: string): string => timeOfDay(Date.parse(ts));

function HitList({ hits, pattern, onClose }: { hits: Hits; pattern: string; onClose: () => void }) {
  const list = hits.hits ?? [];
  return (
    <>
      <div class="chan-view" style={{ gridTemplateRows: "auto" }}>
        <div class="acts">
          <span class="grow" role="status">
            {t("logs.found", { n: hits.total ?? list.length })}
            {hits.truncated ? t("logs.foundMore", { n: list.length }) : ""}
          </span>
          <Button path="global.logs.closeHits" label={t("logs.closeHits")} look="quiet" onClick={onClose}>
            {t("logs.closeHits")}
          </Button>
        </div>
      </div>
      {list.length === 0
        ? (
          <div class="hint">
            <b>{t("logs.nothing", { pattern })}</b>
            <p>{t("logs.nothingHint")}</p>
          </div>
        )
        : (
          <ol class="hits">
            {list.map((hit) => (
              <li key={`${hit.channel} ${hit.seq}`} class="hit">
                <small>
                  <span>{hit.channel}</span>
                  <span>{hit.seq}</span>
                  <time>{localTime(hit.ts)}</time>
                </small>
                {hit.text ?? hit.match ?? ""}
              </li>
            ))}
          </ol>
        )}
    </>
  );
}
