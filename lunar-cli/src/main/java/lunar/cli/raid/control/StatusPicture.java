package lunar.cli.raid.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import lunar.block.Size;
import lunar.raid.layout.Level;
import tools.jackson.databind.JsonNode;

/** Formats the JSON status of a volume for a terminal. */
public final class StatusPicture {
    private static final int BAR_WIDTH = 32;
    private static final int SECONDS = 60;
    private static final String GREEN = "\u001b[32m";
    private static final String YELLOW = "\u001b[33m";
    private static final String RED = "\u001b[31m";
    private static final String BOLD = "\u001b[1m";
    private static final String PLAIN = "\u001b[0m";

    private final boolean colours;

    /** @param colours whether to use colours */
    public StatusPicture(boolean colours) {
        this.colours = colours;
    }

    /** The lines of a volume. */
    public List<String> lines(JsonNode status) {
        var lines = new ArrayList<String>();
        lines.add(head(status));
        for (JsonNode slot : status.path("slots")) {
            addSlot(lines, status, slot);
        }
        for (JsonNode scan : status.path("walks")) {
            if (scan.path("slot").isNull()) {
                lines.add(String.format(Locale.ROOT, "  %-18s %s", text(scan, "kind"),
                        bar(scan)));
            }
        }
        for (JsonNode spare : status.path("spares")) {
            String uri = text(spare, "uri");
            lines.add(line("spare", uri.isEmpty() ? text(spare, "uuid") : uri, text(spare, "why")));
        }
        if (status.path("journal").isString()) {
            lines.add(line("journal", text(status, "journal"), ""));
        }
        if (status.path("badBlocks").asLong(0) > 0) {
            lines.add("  " + coloured(RED, status.path("badBlocks").asLong(0)
                    + " blocks have lost their content; reads of them fail until they are written"));
        }
        addScrub(lines, status.path("lastScrub"));
        addRun(lines, status);
        return lines;
    }

    private String head(JsonNode status) {
        var head = new StringBuilder(coloured(BOLD, text(status, "volume")));
        head.append("  ").append(Level.parse(text(status, "level")));
        if (status.has("sizeBytes")) {
            head.append("  ").append(Size.format(status.path("sizeBytes").asLong(0)))
                    .append("  chunk ")
                    .append(Size.format(status.path("chunkBytes").asLong(0)))
                    .append(status.path("checksums").asBoolean(false) ? "  checksums" : "");
        }
        String state = text(status, "state");
        head.append("  ").append(coloured(colour(state), state));
        String why = text(status, "why");
        return head + (why.isEmpty() ? "" : ": " + why);
    }

    private void addSlot(List<String> lines, JsonNode status, JsonNode slot) {
        String state = text(slot, "state");
        var more = new StringBuilder(text(slot, "why"));
        addCount(more, slot, "repairs", "repaired");
        addCount(more, slot, "errors", "lost");
        String uri = text(slot, "uri");
        lines.add(String.format(Locale.ROOT, "  slot %-2d %s %s%s", slot.path("slot").asInt(0),
                coloured(colour(state), String.format(Locale.ROOT, "%-10s", state)),
                uri.isEmpty() ? "(none)" : uri, more.isEmpty() ? "" : "  (" + more + ")"));
        for (JsonNode scan : status.path("walks")) {
            if (!scan.path("slot").isNull()
                    && scan.path("slot").asInt(-1) == slot.path("slot").asInt(0)) {
                lines.add("                     " + bar(scan));
            }
        }
    }

    private static void addCount(StringBuilder more, JsonNode slot, String key, String what) {
        long count = slot.path(key).asLong(0);
        if (count > 0) {
            more.append(more.isEmpty() ? "" : "; ").append(count).append(" ranges ").append(what);
        }
    }

    private static String line(String what, String uri, String why) {
        return String.format(Locale.ROOT, "  %-18s %s%s", what, uri,
                why.isEmpty() ? "" : "  (" + why + ")");
    }

    private void addScrub(List<String> lines, JsonNode scrub) {
        if (scrub.isObject()) {
            String result = scrub(scrub);
            lines.add("  last scrub         "
                    + coloured(scrub.path("clean").asBoolean(false) ? GREEN : RED, result));
        }
    }

    /** Describes the findings of a scrub in one line. */
    public static String scrub(JsonNode scrub) {
        long wrong = scrub.path("mismatches").asLong(0);
        long skipped = scrub.path("skipped").asLong(0);
        long repairs = scrub.path("repairs").asLong(0);
        String why = text(scrub, "why");
        return scrub.path("stripes").asLong(0) + " stripes, "
                + (wrong == 0 ? "no differences" : wrong + " differ")
                + (wrong > 0 && scrub.path("repairing").asBoolean(false) ? ", repaired" : "")
                + (repairs == 0 ? "" : ", " + repairs + " unreadable or damaged ranges repaired")
                + (skipped == 0 ? "" : ", " + skipped + " not compared")
                + (why.isEmpty() ? "" : "; incomplete: " + why);
    }

    private static void addRun(List<String> lines, JsonNode status) {
        if (!status.path("running").asBoolean(false)) {
            lines.add("  not running");
            return;
        }
        JsonNode owner = status.path("owner");
        if (owner.isObject()) {
            lines.add(
                    "  in use by " + text(owner, "title") + ", which this command cannot reach");
            return;
        }
        JsonNode traffic = status.path("traffic");
        lines.add(String.format(Locale.ROOT,
                "  running in process %d; read %s/s (%s so far), written %s/s (%s so far)",
                status.path("pid").asLong(0),
                Size.format(traffic.path("readBytesPerSecond").asLong(0)),
                Size.format(traffic.path("readBytes").asLong(0)),
                Size.format(traffic.path("writtenBytesPerSecond").asLong(0)),
                Size.format(traffic.path("writtenBytes").asLong(0))));
    }

    /** How far a scan is. */
    public static String bar(JsonNode scan) {
        double percent = scan.path("percent").asDouble(0);
        int filled = (int) (percent / 100 * BAR_WIDTH);
        JsonNode left = scan.path("secondsLeft");
        return String.format(Locale.ROOT, "[%s%s] %5.1f%%  %.0f MB/s%s", "#".repeat(filled),
                ".".repeat(BAR_WIDTH - filled), percent,
                scan.path("bytesPerSecond").asLong(0) / 1e6,
                left.isNumber() ? "  " + time(left.asLong(0)) + " left" : "");
    }

    private static String time(long seconds) {
        return seconds >= SECONDS * SECONDS
                ? String.format(Locale.ROOT, "%d:%02d:%02d", seconds / SECONDS / SECONDS,
                        seconds / SECONDS % SECONDS, seconds % SECONDS)
                : String.format(Locale.ROOT, "%d:%02d", seconds / SECONDS, seconds % SECONDS);
    }

    private static String text(JsonNode node, String key) { return node.path(key).asString(""); }

    private static String colour(String state) {
        return switch (state) {
            case "clean", "active" -> GREEN;
            case "failed", "unknown" -> RED;
            default -> YELLOW;
        };
    }

    private String coloured(String colour, String text) {
        return colours ? colour + text + PLAIN : text;
    }
}
