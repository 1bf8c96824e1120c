package lunar.it.faults;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Runs scenarios that could lose acknowledged writes, and reports lost blocks with the seed that reproduces the run.
 * The exit status is 0 only if nothing was lost.
 *
 * <p>Arguments are names of scenarios, all of them by default. Properties: {@code lunar.faults.times} (faults for each
 * scenario, 10), {@code lunar.seed} (random), {@code lunar.faults.folder} (for disks and logs, kept after a failure),
 * {@code lunar.faults.command} (the launcher; by default a JVM with the class path of this one), {@code
 * lunar.faults.verbose}.
 */
public final class Faults {
    /** All scenarios there are. */
    static final List<Scenario> ALL = List.of(new FrozenPath(), new KilledServer("file"),
            new KilledServer("encrypt"), new KilledServer("raid1"), new KilledServer("raid5"),
            new DroppedCache("raid1"), new DroppedCache("raid5"), new FullDisk(false),
            new FullDisk(true), new JumpingClock(), new FailedSync("file"),
            new FailedSync("raid1"), new StoppedOwner(), new SecondRunner(false),
            new SecondRunner(true), new SilentMember(false), new SilentMember(true),
            new DroppedFile(), new DroppedCaches(), new SecondGateway());

    private Faults() {}

    /** Plays the scenarios that are named. */
    public static void main(String[] names) throws Exception {
        String fixed = System.getProperty("lunar.seed", "");
        long seed = fixed.isEmpty() ? new Random().nextInt(1 << 30) : Long.parseLong(fixed);
        int times = Integer.getInteger("lunar.faults.times", 10);
        Path folder = Path.of(System.getProperty("lunar.faults.folder", "build/faults"));
        List<Scenario> chosen = chosen(names);
        var held = new ArrayList<String>();
        var failed = new ArrayList<String>();
        var skipped = new ArrayList<String>();
        for (Scenario scenario : chosen) {
            String why = scenario.missing();
            if (!why.isEmpty()) {
                System.out.printf("%-18s skipped: %s%n", scenario.name(), why);
                skipped.add(scenario.name() + ": " + why);
            } else if (play(scenario, times, seed, folder)) {
                held.add(scenario.name());
            } else {
                failed.add(scenario.name());
            }
        }
        System.out.println("faults: " + summary(held, failed, skipped, seed));
        System.exit(failed.isEmpty() ? 0 : 1);
    }

    /** The last line: what was skipped, with the reason, never counts among what held. */
    static String summary(List<String> held, List<String> failed, List<String> skipped, long seed) {
        String outcome = failed.isEmpty()
                ? (skipped.isEmpty() ? "all " : "") + held.size() + " held"
                : "failed: " + String.join(" ", failed);
        return outcome
                + (skipped.isEmpty()
                        ? ""
                        : ", " + skipped.size() + " skipped (" + String.join("; ", skipped) + ")")
                + (failed.isEmpty() ? ", SEED=" : ", again with SEED=") + seed;
    }

    private static List<Scenario> chosen(String[] names) {
        for (String name : names) {
            if (ALL.stream().noneMatch(scenario -> scenario.name().equals(name))) {
                System.err.println("faults: no scenario is named " + name + "; there are "
                        + String.join(" ", ALL.stream().map(Scenario::name).toList()));
                System.exit(64);
            }
        }
        return names.length == 0
                ? ALL
                : ALL.stream().filter(scenario -> Arrays.asList(names).contains(scenario.name()))
                        .toList();
    }

    private static boolean play(Scenario scenario, int times, long seed, Path under)
            throws Exception {
        long startNanos = System.nanoTime();
        Files.createDirectories(under);
        Path folder = Files.createTempDirectory(under, scenario.name() + "-").toAbsolutePath();
        String outcome;
        boolean held = false;
        try {
            outcome = playIn(scenario, times, seed, folder);
            held = true;
        } catch (Exception | AssertionError e) {
            outcome = "FAILED: " + e.getMessage() + "; its files are in " + folder;
            if (Boolean.getBoolean("lunar.faults.verbose")) {
                e.printStackTrace();
            }
        }
        System.out.printf("%-18s %s; %d lost (%d s)%n", scenario.name(), outcome, held ? 0 : 1,
                (System.nanoTime() - startNanos) / 1_000_000_000);
        return held;
    }

    /** Plays a scenario in a folder, which is deleted if nothing was lost. */
    static String playIn(Scenario scenario, int times, long seed, Path folder) throws Exception {
        PrintStream console = Boolean.getBoolean("lunar.faults.verbose")
                ? System.out
                : new PrintStream(OutputStream.nullOutputStream());
        String outcome;
        try (var lab = new Lab(scenario.name(), folder, seed, console)) {
            outcome = scenario.play(lab, times);
            lab.held();
        }
        return outcome;
    }
}
