package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import lunar.block.Identity;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.initiator.scsi.ScsiUnit;
import lunar.scsi.Lun;
import lunar.testkit.echo.EchoCdb;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Units of other device types than disks, by the URIs of their providers: those of the test kit's echo device. */
class UnitProviderTest {
    private static final String IQN = "iqn.2026-11.org.example:server";
    private static final String HOST = "iqn.2026-11.org.example:host";
    private static final int PROCESSOR = 0x03;

    private static ServerPlan plan(String... uris) {
        return ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of(uris))));
    }

    private static Session login(Initiator initiator, StorageServer server) throws Exception {
        return initiator.login("iscsi://127.0.0.1:" + server.portals().getFirst().getPort() + "/"
                + IQN);
    }

    private static void requireEcho(Session session, int lun) throws Exception {
        byte[] sent = {1, 2, 3, 4};
        byte[] received = new byte[4];
        ScsiUnit unit = ScsiUnit.of(session, Lun.of(lun));
        ScsiResult result = unit.send(new EchoCdb(), MemorySegment.ofArray(received),
                MemorySegment.ofArray(sent));
        assertThat(result.dataInBytes()).isEqualTo(4);
        assertThat(received).isEqualTo(sent);
        assertThat(unit.inquiry().standard().deviceType()).isEqualTo(PROCESSOR);
    }

    @Test
    void shouldServeThemBesideDisks() throws Exception {
        try (StorageServer server = StorageServer.start(plan("ram:1MiB", "echo:a"));
                var initiator = Initiator.create(HOST);
                Session session = login(initiator, server)) {
            assertThat(server.units()).extracting(ServedUnit::uri, ServedUnit::sizeBytes)
                    .containsExactly(tuple("ram:1MiB", 1L << 20),
                            tuple("echo:a", 0L));
            requireEcho(session, 1);
            assertThat(session.open(Lun.of(0)).sizeBytes()).isEqualTo(1 << 20);
        }
    }

    @Test
    void shouldStayThroughAReloadAndLeaveWithOne() throws Exception {
        try (StorageServer server = StorageServer.start(plan("echo:a"));
                var initiator = Initiator.create(HOST);
                Session session = login(initiator, server)) {
            requireEcho(session, 0);
            server.reload(plan("echo:a", "echo:b"));
            requireEcho(session, 0);
            requireEcho(session, 1);
            ServerChange change = server.reload(plan("echo:a", "ram:1MiB"));
            assertThat(change.units()).extracting(ServedUnit::uri).containsExactly("echo:a",
                    "ram:1MiB");
            requireEcho(session, 0);
        }
    }

    @Test
    void shouldKeepTheirStateByTheirIdentity(@TempDir Path folder) throws Exception {
        try (StorageServer _ = StorageServer.start(plan("echo:a").withState(folder))) {
            assertThat(folder.resolve(Identity.uuidOf("a").toString())).isDirectory();
        }
        assertThat(Files.list(folder)).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "verify:echo:a|can have no filters; remove 'verify:'",
            "echo:|an echo: URI has no name",
            "verify:file:a?read-only=true&lock=no|cannot be used without its lock",
            "echo:a?size=1MiB|unknown option 'size' in echo: URI"})
    void shouldRefuseWrongUris(String uri, String why) {
        assertThatThrownBy(() -> StorageServer.start(plan(uri)))
                .isInstanceOf(InvalidPlanException.class).hasMessageContaining(why);
    }

    @Test
    void shouldRefuseDevicesWithoutTheirLockWhenCheckedToo() {
        assertThatThrownBy(() -> PlanCheck.device("file:a?read-only=true&lock=no"))
                .isInstanceOf(InvalidPlanException.class)
                .hasMessageContaining("cannot be used without its lock");
    }

    @Test
    void shouldRefuseOptionsOfDisks() {
        var luns = new TreeMap<Integer, ServerPlan.Lun>();
        luns.put(0, new ServerPlan.Lun("echo:a", false, false, true, false,
                Optional.empty()));
        ServerPlan plan = plan().withTargets(List.of(ServerPlan.Target.of(IQN, luns)));

        assertThatThrownBy(() -> StorageServer.start(plan))
                .isInstanceOf(InvalidPlanException.class)
                .hasMessageContaining("echo:a is no disk: remove 'removable'");
    }

    @Test
    void shouldServeOneUnitAtTwoLuns() throws Exception {
        try (StorageServer server = StorageServer.start(plan("echo:a", "echo:a"));
                var initiator = Initiator.create(HOST);
                Session session = login(initiator, server)) {
            requireEcho(session, 0);
            assertThat(ScsiUnit.of(session, Lun.of(1)).identity())
                    .isEqualTo(ScsiUnit.of(session, Lun.of(0)).identity());
        }
    }
}
