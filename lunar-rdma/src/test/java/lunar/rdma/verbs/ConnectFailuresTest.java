package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionException.Reason;
import lunar.rdma.ProviderException;
import org.junit.jupiter.api.Test;

class ConnectFailuresTest {
    private static final InetSocketAddress PEER = new InetSocketAddress("10.8.0.1", 3260);

    private final Arena arena = Arena.ofAuto();

    private CmEvent event(int type, int status, byte... privateData) {
        MemorySegment data = arena.allocateFrom(JAVA_BYTE, privateData);
        MemorySegment event = arena.allocate(CmLayouts.EVENT);
        event.set(JAVA_INT, CmLayouts.EVENT_EVENT, type);
        event.set(JAVA_INT, CmLayouts.EVENT_STATUS, status);
        event.set(JAVA_LONG, CmLayouts.EVENT_PRIVATE_DATA, data.address());
        event.set(JAVA_BYTE, CmLayouts.EVENT_PRIVATE_DATA_LEN, (byte) privateData.length);
        return new CmEvent(event.address());
    }

    private static Reason reasonOf(CmEvent event) {
        return ConnectFailures.ofEvent(PEER, event).reason();
    }

    @Test
    void shouldDistinguishApplicationRejectFromMissingListener() {
        ConnectionException rejected = ConnectFailures.ofEvent(PEER,
                event(Constants.RDMA_CM_EVENT_REJECTED, 28, (byte) 'n', (byte) 'o'));
        assertThat(rejected.reason()).isEqualTo(Reason.REJECTED);
        assertThat(rejected.privateData()).containsExactly('n', 'o');
        assertThat(rejected).hasMessageContaining("10.8.0.1");

        ConnectionException refused = ConnectFailures.ofEvent(PEER,
                event(Constants.RDMA_CM_EVENT_REJECTED, 8, (byte) 0));
        assertThat(refused.reason()).isEqualTo(Reason.REFUSED);
        assertThat(refused.privateData()).isEmpty();
    }

    @Test
    void shouldClassifyRejectsOfIwarp() {
        int refused = -Constants.ECONNREFUSED;
        assertThat(reasonOf(event(Constants.RDMA_CM_EVENT_REJECTED, refused)))
                .isEqualTo(Reason.REFUSED);
        assertThat(reasonOf(event(Constants.RDMA_CM_EVENT_REJECTED, refused, (byte) 1)))
                .isEqualTo(Reason.REJECTED);
    }

    @Test
    void shouldReportReasonOfOtherRejects() {
        ConnectionException failure = ConnectFailures.ofEvent(PEER,
                event(Constants.RDMA_CM_EVENT_REJECTED, 10));
        assertThat(failure.reason()).isEqualTo(Reason.OTHER);
        assertThat(failure).hasMessageContaining("reason 10");
    }

    @Test
    void shouldDistinguishTimeoutFromLostConnection() {
        assertThat(reasonOf(event(Constants.RDMA_CM_EVENT_UNREACHABLE, -Constants.ETIMEDOUT)))
                .isEqualTo(Reason.TIMEOUT);
        assertThat(reasonOf(event(Constants.RDMA_CM_EVENT_UNREACHABLE, -Constants.EHOSTUNREACH)))
                .isEqualTo(Reason.UNREACHABLE);
        assertThat(reasonOf(event(Constants.RDMA_CM_EVENT_DISCONNECTED, 0)))
                .isEqualTo(Reason.LOST);
        assertThat(reasonOf(event(Constants.RDMA_CM_EVENT_DEVICE_REMOVAL, 0)))
                .isEqualTo(Reason.OTHER);
    }

    @Test
    void shouldReportWhyListenFails() {
        assertThat(listenFailure(Constants.EADDRINUSE)).isEqualTo(Reason.ADDRESS_IN_USE);
        assertThat(listenFailure(Constants.EADDRNOTAVAIL)).isEqualTo(Reason.ADDRESS_NOT_LOCAL);
        assertThat(listenFailure(Constants.ENODEV)).isEqualTo(Reason.ADDRESS_NOT_LOCAL);
        assertThat(listenFailure(Constants.EPERM)).isEqualTo(Reason.OTHER);
    }

    private static Reason listenFailure(int errno) {
        ProviderException failure = Errno.failure("rdma_bind_addr", errno);
        assertThat(failure.code()).isEqualTo(errno);
        return ConnectFailures.ofListen(PEER, failure).reason();
    }
}
