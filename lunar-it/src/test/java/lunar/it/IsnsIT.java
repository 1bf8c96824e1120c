package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lunar.cli.Main;
import lunar.iscsi.text.TargetAddress;
import lunar.isns.IsnsRegistrar;
import lunar.isns.IsnsTiming;
import lunar.isns.Registration;
import lunar.isns.StorageNode;
import lunar.server.IsnsEntry;
import lunar.target.PortalSpec;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests Lunar's targets with Open-iSNS, a foreign name server: registration, its renewal, and deregistration. */
class IsnsIT {
    /** With time for the end of the registration on a loaded machine. */
    private static final IsnsTiming USUAL = new IsnsTiming(IsnsTiming.DEFAULT.connect(),
            IsnsTiming.DEFAULT.answer(), IsnsTiming.DEFAULT.firstRetry(),
            IsnsTiming.DEFAULT.lastRetry(), IsnsTiming.DEFAULT.check(), Duration.ofSeconds(60),
            IsnsTiming.DEFAULT.period());
    private static final Duration SOON = Duration.ofMillis(50);
    private static final String SECOND = "iqn.2026-11.org.lunar:second";
    private static final Pattern GROUP = Pattern.compile("""
            group name = "(\\S+)"
            .*group address = (\\S+)
            .*group port = (\\d+)/tcp
            .*group tag = (\\S+)""");

    @TempDir
    private Path folder;

    /** Name, address, port and tag of each portal group. */
    private static Stream<String> groups(Isnsd isnsd) {
        return GROUP.matcher(isnsd.list("portal-groups")).results()
                .map(found -> found.group(1) + " " + found.group(2) + ":" + found.group(3) + " "
                        + found.group(4));
    }

    /** Without those whose tag is NULL: there the target is not. */
    private static Stream<String> tagged(Isnsd isnsd) {
        return groups(isnsd).filter(group -> group.matches(".* \\d+"));
    }

    private static String lunar(String... args) {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        int status = Main.run(args, new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(status).as(err.toString(StandardCharsets.UTF_8)).isZero();
        return out.toString(StandardCharsets.UTF_8);
    }

    private static IsnsRegistrar announce(ServedTarget target, Isnsd isnsd) {
        return IsnsEntry.announce(target.server(), isnsd.server(), USUAL);
    }

    private static Peer serve(String... args) throws IOException {
        var command = new ArrayList<>(
                List.of("env", "--default-signal=HUP",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED", "-cp",
                        System.getProperty("java.class.path"), "lunar.cli.Main", "serve"));
        command.addAll(List.of(args));
        return Peer.start(command.toArray(String[]::new));
    }

    @Test
    void shouldRegisterReregisterAfterNameServerCrashAndDeregister() throws Exception {
        try (var isnsd = new Isnsd(folder, "5m");
                var serve = serve("ram:1MiB", "--portal", "127.0.0.1:0", "--iqn",
                        ServedTarget.NAME, "--isns", isnsd.address())) {
            ServedTarget.await("registered", () -> isnsd.knows(ServedTarget.NAME));
            String[] found = lunar("discover", "isns://" + isnsd.address()).strip().split(" ");
            assertThat(found).startsWith(ServedTarget.NAME).endsWith("group", "1");
            assertThat(groups(isnsd)).containsExactly(ServedTarget.NAME + " " + found[1] + " 1");
            assertThat(lunar("info", "iscsi://" + found[1] + "/" + found[0] + "/0"))
                    .contains("1 MiB");

            isnsd.killAndForget();
            ServedTarget.await("registered again", () -> isnsd.knows(ServedTarget.NAME));
            assertThat(groups(isnsd)).containsExactly(ServedTarget.NAME + " " + found[1] + " 1");

            serve.terminate();
            assertThat(serve.await(Duration.ofSeconds(180)).status()).isZero();
            assertThat(isnsd.list("nodes")).doesNotContain(ServedTarget.NAME);
            assertThat(isnsd.list("entities")).doesNotContain("Entity identifier");
        }
    }

    @Test
    void shouldFollowTheConfigFileWhenItIsReadAgain() throws Exception {
        try (var isnsd = new Isnsd(folder, "5m")) {
            String common = "portals = [\"127.0.0.1:0\"]\nluns = [\"ram:1MiB\"]\niqn = \""
                    + ServedTarget.NAME + "\"\n";
            String registered = "isns = \"" + isnsd.address() + "\"\n";
            Path config = Files.writeString(folder.resolve("lunar.toml"), registered + common);
            try (var serve = serve("--config", config.toString())) {
                ServedTarget.await("registered", () -> isnsd.knows(ServedTarget.NAME));
                String first = isnsd.list("portal-groups");

                Files.writeString(config, registered + common + """
                        [[target]]
                        iqn = "%s"
                        luns = ["ram:1MiB"]
                        """.formatted(SECOND));
                Peer.run("kill", "-HUP", Long.toString(serve.pid())).succeeded();
                ServedTarget.await("two targets", () -> isnsd.knows(SECOND));

                Files.writeString(config, registered + common);
                Peer.run("kill", "-HUP", Long.toString(serve.pid())).succeeded();
                ServedTarget.await("one target", () -> !isnsd.knows(SECOND));
                assertThat(isnsd.list("portal-groups")).isEqualTo(first);

                Files.writeString(config, common);
                Peer.run("kill", "-HUP", Long.toString(serve.pid())).succeeded();
                ServedTarget.await("no isns, no target", () -> !isnsd.knows(ServedTarget.NAME));
                assertThat(serve.isAlive()).isTrue();

                serve.terminate();
                assertThat(serve.await(Duration.ofSeconds(180)).status()).isZero();
            }
        }
    }

    @Test
    void shouldRegisterPortalGroupsAndTargetChanges() throws Exception {
        var publicly = PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .withGroup(2)
                .withAdvertised(new TargetAddress("192.0.2.7", 3261, OptionalInt.empty()));
        try (var isnsd = new Isnsd(folder, "5m");
                var target = ServedTarget.of(spec -> spec.withGroups(List.of(1)),
                        server -> server.portal(publicly), "ram:1MiB")) {
            String first = ServedTarget.NAME + " " + target.portal() + " 1";
            String second = SECOND + " 192.0.2.7:3261 2";
            try (var _ = announce(target, isnsd)) {
                ServedTarget.await("registered", () -> groups(isnsd).anyMatch(first::equals));
                assertThat(tagged(isnsd)).containsExactly(first);

                target.server().update(TargetSpec.of(SECOND).withAlias("the second one")
                        .withLun(0, target.device(0)).withGroups(List.of(2)));
                ServedTarget.await("two", () -> groups(isnsd).anyMatch(second::equals));
                assertThat(tagged(isnsd)).containsExactlyInAnyOrder(first, second);
                assertThat(isnsd.list("nodes")).contains("\"the second one\"");

                target.server().update(TargetSpec.of(SECOND).withLun(0, target.device(0))
                        .withGroups(List.of(1)));
                String moved = SECOND + " " + target.portal() + " 1";
                ServedTarget.await("moved", () -> groups(isnsd).anyMatch(moved::equals));
                assertThat(tagged(isnsd)).containsExactlyInAnyOrder(first, moved);
                assertThat(isnsd.list("portals")).doesNotContain("192.0.2.7");

                target.server().remove(SECOND);
                ServedTarget.await("one", () -> !isnsd.knows(SECOND));
                assertThat(tagged(isnsd)).containsExactly(first);
            }
            assertThat(isnsd.list("nodes")).doesNotContain(ServedTarget.NAME);
            assertThat(isnsd.list("portals")).doesNotContain("127.0.0.1");
        }
    }

    @Test
    void shouldTakeOverANameOnce() throws Exception {
        var impatient = new IsnsTiming(USUAL.connect(), USUAL.answer(), SOON, SOON, SOON,
                USUAL.farewell(), USUAL.period());
        try (var isnsd = new Isnsd(folder, "5m"); var target = ServedTarget.of("ram:1MiB")) {
            var portal = new StorageNode.Portal(InetAddress.getByName("127.0.0.1"),
                    target.server().portals().getFirst().getPort());
            var before = new Registration("before.the.failover",
                    List.of(new StorageNode(ServedTarget.NAME, "", Map.of(portal, 7))));
            String first = ServedTarget.NAME + " " + portal + " 7";
            String second = ServedTarget.NAME + " " + portal + " 1";
            try (var old = IsnsRegistrar.start(isnsd.server(), _ -> before, impatient)) {
                ServedTarget.await("the old one is there",
                        () -> tagged(isnsd).anyMatch(first::equals));
                try (var registrar = announce(target, isnsd)) {
                    ServedTarget.await("the new one", registrar::isRegistered);
                    ServedTarget.await("the old one sees it", () -> !old.isRegistered());
                    assertThat(tagged(isnsd)).containsExactly(second);
                    assertThat(isnsd.list("entities")).doesNotContain("before.the.failover");
                }
                ServedTarget.await("the name is free", old::isRegistered);
                assertThat(tagged(isnsd)).containsExactly(first);
            }
            assertThat(isnsd.knows(ServedTarget.NAME)).isFalse();
        }
    }

    @Test
    void shouldStayWhenTheRegistrationOfASilentEntityEnds() throws Exception {
        var brief = new IsnsTiming(USUAL.connect(), USUAL.answer(), USUAL.firstRetry(),
                USUAL.lastRetry(), USUAL.check(), USUAL.farewell(), Duration.ofSeconds(20));
        try (var isnsd = new Isnsd(folder, "20s");
                var target = ServedTarget.of("ram:1MiB");
                var registrar = IsnsEntry.announce(target.server(), isnsd.server(), brief)) {
            ServedTarget.await("registered", registrar::isRegistered);
            ServedTarget.await("the silent one is there", () -> {
                isnsd.admin("--register", "entity=silent", "target=" + SECOND,
                        "portal=192.0.2.7:3260");
                return isnsd.knows(SECOND);
            });
            ServedTarget.await("the silent one has gone", () -> !isnsd.knows(SECOND));
            assertThat(isnsd.knows(ServedTarget.NAME)).isTrue();
        }
    }
}
