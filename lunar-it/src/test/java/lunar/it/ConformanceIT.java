package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import lunar.scsi.target.block.DiskSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs libiscsi's conformance suite against Lunar's target, over two portals with two initiator names. No kind of unit
 * can pass all of it (a fixed medium cannot be ejected), so it runs on several. The verdicts are compared with {@code
 * iscsi-test-cu.expected}; a verdict that changed, for better or worse, fails the test until the file is updated
 * ({@code -Dlunar.expect.update=true} writes it).
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ConformanceIT {
    private static final Path EXPECTED = Path.of("src/test/resources/iscsi-test-cu.expected");
    private static final Path FOUND = Path.of("target/iscsi-test-cu.verdicts");
    private static final Path LOG = Path.of("target/iscsi-test-cu.log");
    private static final Duration BOUND = Duration.ofMinutes(10);

    /** Tests that are wrong, and why; docs/conformance.md says more. */
    private static final Map<String, String> WRONG = Map.of("WriteSame10.UnmapUntilEnd",
            "sends ones with UNMAP and reads zeroes back, though LBPRZ makes them a write (SBC-4 section 5.50)");

    /** A kind of unit, and the families of tests that it is for. */
    private record Profile(String name, String uri, UnaryOperator<DiskSpec> changes,
            List<String> families) {}

    @TempDir
    private Path dir;

    private List<Profile> profiles() throws IOException, InterruptedException {
        return List.of(
                new Profile("thin", "ram:128MiB?block-size=4096", unit -> unit,
                        suites(Set.of("PreventAllow", "StartStopUnit", "NoMedia", "ReadOnly",
                                "Sanitize", "ExtendedCopy", "ProutReserve"))),
                new Profile("file", "file:" + dir.resolve("disk.img") + "?size=1GiB", unit -> unit,
                        ofAFile()),
                // ProutReserve writes 512 bytes whatever the size of a block.
                new Profile("512e", "ram:128MiB", unit -> unit,
                        List.of("SCSI.CompareAndWrite", "SCSI.ExtendedCopy", "SCSI.ProutReserve",
                                "SCSI.WriteSame10.UnmapUnaligned",
                                "SCSI.WriteSame10.InvalidDataOutSize",
                                "SCSI.WriteSame16.UnmapUnaligned",
                                "SCSI.WriteSame16.InvalidDataOutSize")),
                new Profile("removable", "ram:64MiB", unit -> unit.withRemovable(true),
                        tests("SCSI.PreventAllow", "SCSI.StartStopUnit", "SCSI.NoMedia")),
                new Profile("read-only", "ram:64MiB", unit -> unit.withReadOnly(true),
                        List.of("SCSI.ReadOnly")),
                // The suite gives a SANITIZE three seconds to be still at work.
                new Profile("encrypted",
                        "encrypt=" + dir.resolve("key")
                                + ",create-key=yes:throttle=10MiB:ram:112MiB",
                        unit -> unit, tests("SCSI.Sanitize")));
    }

    /**
     * Tests of a fixed disk of 512-byte blocks that also apply to 4096-byte blocks; docs/conformance.md explains the
     * two exceptions.
     */
    private static List<String> ofAFile() throws IOException, InterruptedException {
        var families = new ArrayList<>(suites(Set.of("PreventAllow", "StartStopUnit", "NoMedia",
                "ReadOnly", "Sanitize", "GetLBAStatus", "WriteSame16")));
        families.addAll(tests("SCSI.GetLBAStatus", "SCSI.WriteSame16"));
        families.removeAll(Set.of("SCSI.GetLBAStatus.UnmapSingle", "SCSI.WriteSame16.Unmap"));
        return families;
    }

    /** All suites but these, as {@code FAMILY.SUITE}. */
    private static List<String> suites(Set<String> others)
            throws IOException, InterruptedException {
        return Peer.run("iscsi-test-cu", "--list").lines().stream().map(line -> line.split("\\."))
                .filter(parts -> parts.length == 2 && !parts[0].equals("ALL")
                        && !parts[0].equals("LINUX") && !others.contains(parts[1]))
                .map(parts -> parts[0] + "." + parts[1]).toList();
    }

    /**
     * The tests of suites, for one run each: what one leaves behind (a reservation, a unit attention on the second
     * path) must not meet the next.
     */
    private static List<String> tests(String... suites) throws IOException, InterruptedException {
        return Peer.run("iscsi-test-cu", "--list").lines().stream().filter(
                line -> Stream.of(suites).anyMatch(suite -> line.startsWith(suite + ".")))
                .toList();
    }

    @Test
    void shouldGiveExpectedVerdicts() throws Exception {
        Peer.assume("iscsi-test-cu");
        var found = new ArrayList<ConformanceVerdict>();
        Files.deleteIfExists(LOG);
        for (Profile profile : profiles()) {
            found.addAll(verdicts(profile));
        }
        Files.write(FOUND, lines(found), StandardCharsets.UTF_8);
        assertThat(found).as("tests with a verdict").hasSizeGreaterThan(230);
        if (Boolean.getBoolean("lunar.expect.update")) {
            Files.write(EXPECTED, lines(found), StandardCharsets.UTF_8);
        }
        assertAsExpected(found);
    }

    private static List<ConformanceVerdict> verdicts(Profile profile) throws Exception {
        var all = new ArrayList<ConformanceVerdict>();
        try (ServedTarget target = ServedTarget.ofUnit(profile.changes(),
                server -> server.portal(new InetSocketAddress("127.0.0.1", 0)), profile.uri())) {
            for (String family : profile.families()) {
                // Like -n, but -v also names each test, without which skipped tests are not visible.
                Peer.Result result = Peer.run(BOUND, "iscsi-test-cu", "--dataloss",
                        "--allow-sanitize", "-v", "-t", family, target.url(0), target.url(1, 0));
                Files.createDirectories(LOG.getParent());
                Files.writeString(LOG, result.output(), StandardCharsets.UTF_8,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
                assertThat(result.output()).as("runs to its end").contains("Run Summary:",
                        "Tests completed with return value: 0");
                all.addAll(ConformanceVerdict.parse(profile.name() + "/", result.output()));
            }
        }
        return all;
    }

    private static List<String> lines(List<ConformanceVerdict> verdicts) {
        return verdicts.stream().map(ConformanceVerdict::line).toList();
    }

    private static void assertAsExpected(List<ConformanceVerdict> found) throws IOException {
        List<String> difference = ConformanceVerdict.difference(ConformanceVerdict
                .read(Files.readAllLines(EXPECTED, StandardCharsets.UTF_8)), found);
        assertThat(difference).as("- is what %s says, + what was found; the log is %s. If it is as"
                + " it should be, write the file anew with -Dlunar.expect.update=true", EXPECTED,
                LOG).isEmpty();
    }

    /**
     * No test fails anywhere but those that ask for what a standard forbids, and every other one passes on some kind of
     * unit.
     */
    @Test
    void shouldExpectEveryTestToPass() throws IOException {
        Map<String, ConformanceVerdict.Outcome> best = new TreeMap<>();
        List<ConformanceVerdict> expected = ConformanceVerdict
                .read(Files.readAllLines(EXPECTED, StandardCharsets.UTF_8));
        for (ConformanceVerdict verdict : expected) {
            best.merge(verdict.test().substring(verdict.test().indexOf('/') + 1),
                    verdict.outcome(), (one, other) -> one.compareTo(other) > 0 ? one : other);
        }
        best.keySet().removeAll(WRONG.keySet());
        assertThat(expected).filteredOn(
                verdict -> verdict.outcome() == ConformanceVerdict.Outcome.FAILED)
                .extracting(verdict -> verdict.test().substring(verdict.test().indexOf('/') + 1))
                .isSubsetOf(WRONG.keySet());
        best.values().removeIf(outcome -> outcome == ConformanceVerdict.Outcome.PASSED);
        assertThat(best).as("passed nowhere").isEmpty();
    }
}
