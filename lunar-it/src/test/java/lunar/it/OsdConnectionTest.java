package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdConnection;
import lunar.osd.client.Partition;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.OsdSpec;
import lunar.scsi.Lun;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A connection to an object store whose target restarts. */
class OsdConnectionTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:objects";
    /** A line for a person, with the names of command, object and target. */
    private static final int LINE = 250;

    private final ObjectStore store = ObjectStores.inMemory();
    private TargetServer server;
    private int port;

    @BeforeEach
    void start() throws IOException {
        port = FreePorts.one();
        server = serve(port, store);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        store.close();
    }

    private static TargetServer serve(int port, ObjectStore store) throws IOException {
        return TargetServer.builder().portal("127.0.0.1", port)
                .target(TargetSpec.of(TARGET).withLun(0, OsdSpec.of(store))).start();
    }

    private String target() { return "iscsi://127.0.0.1:" + port + "/" + TARGET; }

    @Test
    void shouldLogInAgainAfterRestartOfTarget() throws Exception {
        try (var connection = OsdConnection.open(target() + "/0")) {
            Partition partition = connection.osd().createPartition();
            Session first = connection.session();
            server.close();
            assertThatThrownBy(partition::flush).isInstanceOf(StorageException.class);
            assertThatThrownBy(partition::flush).isInstanceOf(StorageException.class)
                    .hasMessageContaining("cannot log in again");

            server = serve(port, store);
            partition.flush();
            assertThat(connection.osd().partitions()).containsExactly(partition);
            assertThat(connection.session()).isNotSameAs(first);
            assertThat(server.sessionCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldRefuseAnotherDeviceAtItsLun() throws Exception {
        try (var connection = OsdConnection.open(target() + "/0");
                ObjectStore other = ObjectStores.inMemory()) {
            var _ = connection.osd().createPartition();
            server.close();
            server = serve(port, other);
            ServedTarget.await("end of the session", () -> !connection.session().isOpen());
            assertThatThrownBy(() -> connection.osd().createPartition())
                    .isInstanceOf(StorageException.class)
                    .hasMessageContaining("the LUN is another device now");
            assertThat(other.<Long, IOException>query(objects -> objects.partitionCount()))
                    .isZero();
        }
    }

    @Test
    void shouldFailInALineWithoutSession() throws Exception {
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:osd-client");
                Session session = initiator.login(target())) {
            Osd osd = Osd.open(session, Lun.ZERO);
            server.close();
            assertThatThrownBy(osd::createPartition).isInstanceOf(StorageException.class)
                    .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(LINE));
        }
    }
}
