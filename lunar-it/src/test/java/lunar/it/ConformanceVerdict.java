package lunar.it;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Result of one test of {@code iscsi-test-cu}. The suite counts a skipped test as passed; here it is skipped.
 *
 * @param test kind of unit, suite and test, {@code thin/Read10.Simple}
 * @param reason why it was skipped, or where it failed; empty if it passed
 */
record ConformanceVerdict(String test, Outcome outcome, String reason) {
    /** From worst to best. */
    enum Outcome {
        FAILED, SKIPPED, PASSED
    }

    private static final Pattern SUITE = Pattern.compile("^Suite: (\\S+)");
    private static final Pattern TEST = Pattern.compile("^  Test: (\\S+) \\.\\.\\.(.*)");
    private static final Pattern END = Pattern.compile("^(passed|FAILED)(?:    \\[.*)?$");
    private static final Pattern SKIPPED = Pattern.compile("\\[SKIPPED\\] ?(.*)");
    private static final Pattern FAILURE = Pattern.compile("^    \\d+\\. (\\S+)  - (.*)");

    /** Reads the verdicts from the output of a run with {@code -v}; a prefix goes before the name of each test. */
    static List<ConformanceVerdict> parse(String prefix, String output) {
        var verdicts = new ArrayList<ConformanceVerdict>();
        var names = new HashSet<String>();
        String suite = "";
        String test = "";
        String reason = "";
        boolean open = false;
        for (String raw : output.lines().toList()) {
            String line = raw;
            Matcher suiteLine = SUITE.matcher(line);
            Matcher failure = FAILURE.matcher(line);
            if (suiteLine.find()) {
                suite = suiteLine.group(1);
            } else if (failure.find() && !verdicts.isEmpty()) {
                nameFailure(verdicts, failure.group(1));
            }
            Matcher start = TEST.matcher(line);
            if (start.find()) {
                test = unique(names, prefix + suite + "." + start.group(1));
                reason = "";
                open = true;
                line = start.group(2);
            }
            Matcher end = END.matcher(line);
            if (!open) {
                continue;
            }
            if (end.find()) {
                verdicts.add(verdict(test, end.group(1), reason));
                open = false;
            } else if (reason.isEmpty()) {
                Matcher skipped = SKIPPED.matcher(line);
                reason = skipped.find() ? skipped.group(1).strip() : "";
            }
        }
        return verdicts;
    }

    private static ConformanceVerdict verdict(String test, String word, String reason) {
        if (word.equals("FAILED")) {
            return new ConformanceVerdict(test, Outcome.FAILED, "");
        }
        return new ConformanceVerdict(test, reason.isEmpty() ? Outcome.PASSED : Outcome.SKIPPED,
                reason);
    }

    /** The places of failures stand after the verdict; the first of them is the reason. */
    private static void nameFailure(List<ConformanceVerdict> verdicts, String place) {
        ConformanceVerdict last = verdicts.getLast();
        if (last.outcome == Outcome.FAILED && last.reason.isEmpty()) {
            verdicts.set(verdicts.size() - 1,
                    new ConformanceVerdict(last.test, Outcome.FAILED, place));
        }
    }

    private static String unique(Set<String> names, String name) {
        String candidate = name;
        for (int i = 2; !names.add(candidate); i++) {
            candidate = name + "#" + i;
        }
        return candidate;
    }

    /** Reads what {@link #line} wrote. */
    static List<ConformanceVerdict> read(List<String> lines) {
        return lines.stream().map(line -> line.split(" +", 3)).map(parts -> new ConformanceVerdict(
                parts[1], Outcome.valueOf(parts[0]), parts.length > 2 ? parts[2] : "")).toList();
    }

    /** The verdict as one line of the expectation file. */
    String line() {
        return String.format("%-7s %s%s", outcome, test, reason.isEmpty() ? "" : " " + reason);
    }

    /** Returns the differences as lines of a diff; empty if there are none. */
    static List<String> difference(List<ConformanceVerdict> expected,
            List<ConformanceVerdict> found) {
        Map<String, ConformanceVerdict> wanted = new LinkedHashMap<>();
        expected.forEach(verdict -> wanted.put(verdict.test, verdict));
        var lines = new ArrayList<String>();
        for (ConformanceVerdict verdict : found) {
            ConformanceVerdict before = wanted.remove(verdict.test);
            if (verdict.equals(before)) {
                continue;
            }
            if (before != null) {
                lines.add("- " + before.line());
            }
            lines.add("+ " + verdict.line() + comparison(before, verdict));
        }
        wanted.values().forEach(gone -> lines.add("- " + gone.line() + "   (did not run)"));
        return lines;
    }

    private static String comparison(@Nullable ConformanceVerdict before,
            ConformanceVerdict now) {
        if (before == null) {
            return "   (new)";
        }
        int better = now.outcome.compareTo(before.outcome);
        return better > 0
                ? "   (better: update the file)"
                : better < 0 ? "   (worse)" : "   (another reason)";
    }
}
