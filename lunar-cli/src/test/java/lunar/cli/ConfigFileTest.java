package lunar.cli;

import lunar.cli.config.ConfigFile;
import lunar.cli.config.Digest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Polling;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;
import lunar.isns.IsnsServer;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.server.ServerPlan;
import lunar.target.Absence;
import lunar.target.IoLimit;
import lunar.target.SessionLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("lunar.toml"), text);
    }

    @Test
    void shouldReadPortalsOfOtherTransports() throws Exception {
        ConfigFile config = ConfigFile.read(file("""
                portals = ["127.0.0.1:3260", { listen = "127.0.0.1:3260", transport = "iser" }]
                luns = ["ram:1MiB"]
                rdma-provider = "libfabric:tcp"
                """));
        assertThat(config.portals()).containsExactly(ServerPlan.Listen.on("127.0.0.1", 3260),
                ServerPlan.Listen.on("127.0.0.1", 3260).withTransport(Transports.ISER));
        assertThat(config.limits().loops().device()).contains("libfabric:tcp");
    }

    @Test
    void shouldReadPortalsWithTls() throws Exception {
        ConfigFile config = ConfigFile.read(file("""
                portals = [{ listen = "127.0.0.1:3261", transport = "iscsis", \
                certificate = "/a.pem", key = "/a.key", client-ca = "/hosts.pem" }]
                luns = ["ram:1MiB"]
                """));
        assertThat(config.portals()).containsExactly(ServerPlan.Listen.on("127.0.0.1", 3261)
                .withTransport(Transports.ISCSIS)
                .withTls(TlsFiles.of(Path.of("/a.pem"), Path.of("/a.key"))
                        .withAuthorities(Path.of("/hosts.pem"))));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "transport = \"iscsis\" | needs 'certificate' and 'key'",
            "transport = \"iscsis\", key = \"a.key\" | needs 'certificate' and 'key'",
            "client-ca = \"ca.pem\" | 'client-ca' is for a portal with transport = \"iscsis\""})
    void shouldExplainPortalsWithoutTheirFiles(String keys, String what) throws Exception {
        Path wrong = file("portals = [{ listen = \"127.0.0.1:3261\", " + keys + " }]\n");
        assertThatThrownBy(() -> ConfigFile.read(wrong)).hasMessageContaining(what);
    }

    @Test
    void shouldReadEveryOption() throws Exception {
        ConfigFile config = ConfigFile.read(
                file("""
                        portals = ["127.0.0.1:3261", "[::1]"]
                        iqn = "iqn.2026-11.org.example:first"
                        luns = ["ram:1MiB"]
                        chap = "me:@secret"
                        mutual-chap = "lunar:@other"
                        allow-anonymous = true
                        header-digest = "prefer"
                        data-digest = "require"
                        isns = "[fd00::9]:3206"
                        chap-algorithms = ["sha3-256", "sha-256"]

                        [[target]]
                        iqn = "iqn.2026-11.org.example:second"
                        alias = "two disks"
                        luns = ["ram:2MiB", { uri = "ram:3MiB", removable = true, rotational = true, read-only = true, thick = true, limit = "burst=2s,500iops" }]

                        [[target]]
                        iqn = "iqn.2026-11.org.example:third"
                        luns = ["ram:4MiB"]
                        chap = "you:@secret"
                        chap-algorithms = ["md5"]
                        """));
        assertThat(config.portals()).containsExactly(
                ServerPlan.Listen.on("127.0.0.1", 3261),
                ServerPlan.Listen.on("::1", 3260));
        assertThat(config.allowAnonymous()).isTrue();
        assertThat(config.headerDigest()).contains(Digest.PREFER);
        assertThat(config.dataDigest()).contains(Digest.REQUIRE);
        assertThat(config.isns()).contains(new IsnsServer("fd00::9", 3206));
        var me = Optional.of("me:@secret");
        var mutual = Optional.of("lunar:@other");
        var strong = List.of(ChapAlgorithm.SHA3_256, ChapAlgorithm.SHA256);
        assertThat(config.chapAlgorithms()).isEqualTo(strong);
        assertThat(config.targets()).containsExactly(
                ServerPlan.Target.of("iqn.2026-11.org.example:first", List.of("ram:1MiB"))
                        .withChap(me, mutual).withChapAlgorithms(strong),
                ServerPlan.Target
                        .of("iqn.2026-11.org.example:second",
                                new TreeMap<>(Map.of(0, ServerPlan.Lun.of("ram:2MiB"), 1,
                                        new ServerPlan.Lun("ram:3MiB", true, true, true, true,
                                                Optional.of(IoLimit.parse("500iops,burst=2s"))))))
                        .withAlias("two disks").withChap(me, mutual).withChapAlgorithms(strong),
                ServerPlan.Target.of("iqn.2026-11.org.example:third", List.of("ram:4MiB"))
                        .withChap(Optional.of("you:@secret"), Optional.empty())
                        .withChapAlgorithms(List.of(ChapAlgorithm.MD5)));
        assertThat(config.limits()).isEqualTo(ServerPlan.Limits.DEFAULT);
        assertThat(config.announceResets()).isTrue();
    }

    @Test
    void shouldGiveEachAddressHalfOfFewerSessions() throws Exception {
        assertThat(ConfigFile.read(file("limits = {sessions = 400}")).limits().sessions())
                .isEqualTo(new SessionLimits(400, 0xffff, 0xffff, 200, 5, 20));
        assertThat(ConfigFile.read(file("limits = {sessions = 8}")).limits().sessions()
                .perAddress()).isEqualTo(64);
    }

    @Test
    void shouldReadPortalGroupsAndWhoMayUseWhat() throws Exception {
        ConfigFile config = ConfigFile.read(
                file("""
                        portals = ["127.0.0.1"]
                        discovery-chap = "host:@secret"
                        announce-resets = false
                        [limits]
                        sessions = 100
                        sessions-per-initiator = 2
                        sessions-per-address = 50
                        max-time2wait = 3
                        max-time2retain = 0
                        connections = 300
                        connections-per-address = 90
                        connections-per-session = 1
                        loops = 3
                        poll = "50us"

                        [[portal-group]]
                        tag = 7
                        portals = ["[fd00::5]:860", { listen = "0.0.0.0:3261", advertise = "[fd00::6]:3262" }]

                        [[portal-group]]
                        tag = 9
                        portals = ["127.0.0.2"]
                        moved = "192.0.2.1:3260"

                        [[target]]
                        iqn = "iqn.2026-11.org.example:a"
                        groups = [1, 7]
                        access = { 7 = "standby", 1 = "optimized" }
                        luns = ["ram:1MiB", { lun = 5, uri = "ram:2MiB" }, "ram:3MiB"]
                        [[target.initiator]]
                        name = "iqn.2026-11.org.example:one"
                        chap = "one:@secret"
                        mutual-chap = "a:@other"
                        luns = { 0 = 5, 12 = 0 }
                        [[target.initiator]]
                        name = "*"
                        luns = [6]
                        read-only = true
                        limit = "200MiB"

                        [[target]]
                        iqn = "iqn.2026-11.org.example:b"
                        moved = { to = "san.example.org", permanent = true }

                        [[target]]
                        iqn = "iqn.2026-11.org.example:c"
                        maintenance = true
                        """));
        assertThat(config.limits())
                .isEqualTo(new ServerPlan.Limits(new SessionLimits(100, 0xffff, 2, 50, 3, 0), 300,
                        90, 1,
                        LoopOptions.of(3).withPolling(Polling.of(Duration.ofNanos(50_000)))));
        assertThat(config.discoveryChap()).contains("host:@secret");
        assertThat(config.announceResets()).isFalse();
        Optional<TargetAddress> none = Optional.empty();
        assertThat(config.portals()).containsExactly(
                ServerPlan.Listen.on("127.0.0.1", 3260),
                new ServerPlan.Listen("fd00::5", 860, 7, none, Optional.empty(),
                        Transports.ISCSI),
                new ServerPlan.Listen("0.0.0.0", 3261, 7,
                        Optional.of(address("fd00::6", 3262)), Optional.empty(),
                        Transports.ISCSI),
                new ServerPlan.Listen("127.0.0.2", 3260, 9, none,
                        Optional.of(new Absence.Moved(address("192.0.2.1", 3260), false)),
                        Transports.ISCSI));
        ServerPlan.Target target = config.targets().getFirst();
        assertThat(target.groups()).containsExactlyInAnyOrder(1, 7);
        assertThat(target.access()).containsExactlyInAnyOrderEntriesOf(
                Map.of(1, State.ACTIVE_OPTIMIZED, 7, State.STANDBY));
        assertThat(target.luns()).containsExactly(entry(0, ServerPlan.Lun.of("ram:1MiB")),
                entry(5, ServerPlan.Lun.of("ram:2MiB")), entry(6, ServerPlan.Lun.of("ram:3MiB")));
        assertThat(target.initiators()).containsExactly(
                new ServerPlan.Initiator("iqn.2026-11.org.example:one", Optional.of("one:@secret"),
                        Optional.of("a:@other"), Optional.of(new TreeMap<>(Map.of(0, 5, 12, 0))),
                        false, Optional.empty()),
                new ServerPlan.Initiator("*", Optional.empty(), Optional.empty(),
                        Optional.of(new TreeMap<>(Map.of(6, 6))), true,
                        Optional.of(IoLimit.parse("200MiB"))));
        assertThat(config.targets().get(1).absence())
                .contains(new Absence.Moved(address("san.example.org", 3260), true));
        assertThat(config.targets().get(2).absence()).contains(new Absence.Maintenance());
    }

    private static TargetAddress address(String host, int port) {
        return new TargetAddress(host, port, OptionalInt.empty());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    colour = 'red'                               | unknown key 'colour'
                    portals = '127.0.0.1'                        | 'portals' must be a list
                    portals = [1]                                | 'portals' must be a list
                    portals = ['a:b:c']                          | HOST:PORT
                    luns = 'ram:1MiB'                            | 'luns' must be a list
                    luns = [1]                                   | 'luns' must be a list of strings
                    luns = ['ram:1MiB', {lun = 0, uri = 'ram:'}] | LUN 0 is configured twice
                    luns = [{lun = -1, uri = 'ram:1MiB'}]        | 'lun' must be a number from 0 to 16383
                    portals = ['[::1]', '[::1]:3260']            | portal [::1]:3260 is configured twice
                    portals = ['[::1]', {listen = '[::1]:3260', transport = 'iscsis', certificate = 'a', key = 'b'}] | :1:22: portal [::1]:3260 is configured for iscsi and iscsis, which share the ports of TCP; give one of them another port
                    portals = [{listen = '[::1]', transport = 'ib'}] | 'ib' is not a transport; there are [iscsi, iscsis, iser]
                    portals = [{advertise = 'a:1'}]              | a portal has no 'listen'
                    portals = [{listen = '[::1]', to = 'a:1'}]   | unknown key 'to' of a portal
                    portal-group = [{portals = ['::1']}]         | a portal group has no 'tag'
                    portal-group = [{tag = 65536}]               | 'tag' must be a number from 1 to 65535
                    portal-group = [{tag = 2}]                   | portal group 2: it has no 'portals'
                    limits = {sessions = 0}                      | limits: 'sessions' must be a number from 1
                    limits = {session = 1}                       | :1:11: unknown key 'session' of 'limits'
                    limits = {connections-per-session = 65536}   | 'connections-per-session' must be a number from 1 to 65535
                    limits = {max-time2wait = 3601}    | 'max-time2wait' must be a number from 0 to 3600
                    limits = {max-time2retain = -1}    | 'max-time2retain' must be a number from 0 to 3600
                    limits = {sessions-per-address = 0} | 'sessions-per-address' must be a number from 1
                    limits = {loops = 0}       | 'loops' must be a number from 1 to 1024
                    limits = {poll = '5'}      | '5' is not a polling time; write auto, off, or a time
                    luns = [{removable = true}]                  | a LUN has no 'uri'
                    luns = [{uri = 'ram:1MiB', color = 1}]       | unknown key 'color' of a LUN
                    iqn = 'iqn.2026-11.org.example:x'            | needs 'luns'
                    chap = 3                                     | 'chap' must be a string
                    chap-algorithms = 'md5'                      | 'chap-algorithms' must be a list
                    chap-algorithms = []                         | 'chap-algorithms': '' is not a CHAP algorithm
                    chap-algorithms = ['sha2']                   | 'sha2' is not a CHAP algorithm; supported: md5, sha-1, sha-256, sha3-256
                    chap-algorithms = [{md5 = true}]             | 'chap-algorithms' must be a list of strings
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], chap-algorithms = ['md5', 'md5']}] | target iqn.2026-11.a:b: 'chap-algorithms': CHAP algorithm md5 is named twice
                    allow-anonymous = 'yes'                      | true or false
                    data-digest = 'maybe'                        | none, allow, prefer, require
                    isns = 'a:b:c'                               | 'isns': 'a:b:c' is not HOST:PORT
                    target = 3                                   | [[target]]
                    target = [3]                                 | [[target]]
                    [[target]]                                   | no 'iqn'
                    target = [{iqn = 'iqn.2026-11.a:b'}]         | no 'luns'
                    target = [{iqm = 'iqn.2026-11.a:b', luns = ['ram:1MiB']}] | :1:12: unknown key 'iqm' of a target; did you mean 'iqn'?
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], groups = [2]}] | target iqn.2026-11.a:b: 'groups' names portal group 2
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], groups = []}] | 'groups' is empty
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], access = {1 = 'off'}}] | 'access': '1': 'off' is not one of
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], access = {3 = 'standby'}}] | 'access' names portal group 3
                    target = [{iqn = 'iqn.2026-11.a:b', moved = 'a:1', removed = true}] | only one of
                    target = [{iqn = 'iqn.2026-11.a:b', moved = {permanent = true}}] | 'moved' has no 'to'
                    target = [{iqn = 'iqn.2026-11.a:b', moved = 'a:0'}] | has port 0
                    target = [{iqn = 'iqn.2026-11.a:b', removed = true}, {iqn = 'iqn.2026-11.a:b', removed = true}] | configured twice
                    target = [{iqn = 'iqn.2026-11.a:b', removed = true, initiator = [{chap = 'a'}]}] | an initiator has no 'name'
                    target = [{iqn = 'iqn.2026-11.a:b', removed = true, initiator = [{name = 'a'}, {name = 'A'}]}] | initiator A is configured twice
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], initiator = [{name = '*', luns = [1]}]}] | initiator *: 'luns' names LUN 1
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], initiator = [{name = '*', luns = {x = 0}}]}] | which is not a number
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], initiator = [{name = '*', luns = [0, 0]}]}] | different numbers
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], initiator = [{name = '*', lun = 0}]}] | unknown key 'lun' of an initiator
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], initiator = [{name = 'me'}]}] | not the iSCSI name
                    target = [{iqn = 'iqn.2026-11.a:b', luns = ['ram:1MiB'], initiator = [{name = '*', mutual-chap = 'a:@b'}]}] | initiator * of target iqn.2026-11.a:b has mutual-chap without chap
                    portals =                                    | :1:10: not TOML
                    """,
            quoteCharacter = '`')
    void shouldNameWhatIsWrong(String text, String words) throws IOException {
        Path file = file(text + "\n");
        CommandRun.of("serve", "--config", file.toString()).fails(1, words);
    }

    @Test
    void shouldReportMissingFile() {
        CommandRun.of("serve", "--config", folder.resolve("nothing.toml").toString()).fails(1,
                "nothing.toml", "does not exist");
        CommandRun.of("serve", "--config", folder.toString()).fails(1, "cannot be read");
    }

    @Test
    void shouldServeItsTargetsWithWhatTheCommandLineSaysFirst() throws Exception {
        Path file = file("""
                portals = ["127.0.0.1:1"]
                [[target]]
                iqn = "iqn.2026-11.org.example:a"
                luns = ["ram:1MiB"]
                [[target]]
                iqn = "iqn.2026-11.org.example:b"
                luns = ["ram:2MiB"]
                """);
        try (var serving = new CommandRun.Serving(3, "serve", "ram:3MiB", "--portal",
                "127.0.0.1:0", "--config", file.toString())) {
            assertThat(CommandRun.of("discover", serving.portal()).succeeds().out().lines())
                    .hasSize(3);
            assertThat(serving.lines()).anySatisfy(
                    line -> assertThat(line).contains("example:b lun 0 ram:2MiB 2MiB on"));
        }
    }

    @Test
    void shouldRejectMutualChapAlone() throws Exception {
        Path file = file("luns = ['ram:1MiB']\nportals = ['127.0.0.1:0']\nmutual-chap = 'a:@b'\n");
        CommandRun.of("serve", "--config", file.toString()).fails(1, "mutual-chap without chap");
    }

    @Test
    void shouldAdviseToChangeTheFileAndNotTheCommandLine() throws Exception {
        Path file = file("portals = ['0.0.0.0:0']\nluns = ['ram:1MiB']\n");
        CommandRun.of("serve", "--config", file.toString()).fails(1,
                "give the target a 'chap' in the config file, or set 'allow-anonymous = true'");
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Path other = file("portals = ['127.0.0.1:" + taken.getLocalPort()
                    + "']\nluns = ['ram:1MiB']\n");
            CommandRun.of("serve", "--config", other.toString()).fails(1,
                    "choose another address in 'portals' of the config file");
        }
    }
}
