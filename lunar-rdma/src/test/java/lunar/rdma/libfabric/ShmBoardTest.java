package lunar.rdma.libfabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Accesses of peers to a board: none outlives its connection. */
class ShmBoardTest {
    private static final int SLOT = 7;
    private static final int KEY = 0x1234_5003;
    private static final long ADDRESS = 1 << 20;

    private final ShmBoard.Connection first = new ShmBoard.Connection(SLOT, 0x8765_4321);
    private final ShmBoard.Connection second = new ShmBoard.Connection(SLOT, 17);

    private String name;
    private ShmBoard board;

    @BeforeEach
    void open() throws IOException {
        assumeTrue(Files.isDirectory(Path.of("/dev/shm")));
        name = ShmDomain.BOARD_PREFIX + "00000000000000b0";
        ShmBoard.delete(name);
        board = ShmBoard.create(name);
        board.setRegion(KEY, ADDRESS, 100, ShmBoard.READABLE);
        board.open(first);
    }

    @AfterEach
    void close() throws IOException {
        if (board != null) {
            board.close();
            ShmBoard.delete(name);
        }
    }

    private boolean begins(ShmBoard.Connection connection) {
        return board.beginAccess(connection, KEY, ADDRESS + 10, 90, ShmBoard.READABLE);
    }

    private boolean isAccessed() { return (board.access(SLOT) & 1) != 0; }

    @Test
    void shouldCountAccesses() {
        assertThat(isAccessed()).isFalse();
        for (int i = 0; i < 3; i++) {
            assertThat(begins(first)).isTrue();
            assertThat(isAccessed()).isTrue();
            board.endAccess(first);
            assertThat(isAccessed()).isFalse();
        }
        assertThat(board.isOpen(first)).isTrue();
    }

    @Test
    void shouldRefuseAccessThatRegionDoesNotAllow() {
        assertThat(board.beginAccess(first, KEY, ADDRESS, 100, ShmBoard.WRITABLE)).isFalse();
        assertThat(board.beginAccess(first, KEY ^ 1 << 20, ADDRESS, 100, ShmBoard.READABLE))
                .isFalse();
        assertThat(board.beginAccess(first, KEY, ADDRESS + 1, 100, ShmBoard.READABLE)).isFalse();
        assertThat(board.beginAccess(first, KEY, ADDRESS - 1, 1, ShmBoard.READABLE)).isFalse();
        assertThat(isAccessed()).isFalse();
        board.removeRegion(KEY);
        assertThat(begins(first)).isFalse();
        assertThat(isAccessed()).isFalse();
    }

    /** The owner must wait for an access that has begun, and the next connection must not be disturbed by it. */
    @Test
    void shouldShowAccessThatOutlivesTheClose() {
        assertThat(begins(first)).isTrue();
        board.close(first, false);
        assertThat(isAccessed()).isTrue();
        board.endAccess(first);
        assertThat(isAccessed()).isFalse();
    }

    @Test
    void shouldRefuseEarlierConnectionOfTheSamePlace() {
        board.close(first, true);
        assertThat(begins(first)).isFalse();
        board.open(second);
        assertThat(begins(first)).isFalse();
        assertThat(begins(second)).isTrue();
        board.endAccess(first); // from an access that the owner did not wait for any longer
        assertThat(isAccessed()).isTrue();
        board.endAccess(second);
        assertThat(isAccessed()).isFalse();
        assertThat(board.isOpen(second)).isTrue();
    }

    @Test
    void shouldKeepTheNumberWhenTheCountWrapsAround() {
        var highest = new ShmBoard.Connection(SLOT, -1);
        board.open(highest);
        for (int i = 0; i < 5; i++) {
            assertThat(begins(highest)).isTrue();
            board.endAccess(highest);
        }
        assertThat(board.isOpen(highest)).isTrue();
    }

    @Test
    void shouldSayWhetherMessagesWereDelivered() {
        assertThat(board.isDelivered(first)).isTrue();
        board.close(first, true);
        assertThat(board.isDelivered(first)).isTrue();
        assertThat(board.isOpen(first)).isFalse();
        board.open(second);
        board.close(second, false);
        assertThat(board.isDelivered(second)).isFalse();
        assertThat(board.isDelivered(first)).isFalse();
    }

    /** A peer that has died before it could wake the thread up does not keep the others from it. */
    @Test
    void shouldHaveEachPeerEndASleepOnce() {
        var dead = new WakeUps();
        var other = new WakeUps();
        board.setSleep(SLOT, 5);
        assertThat(dead.take(board.sleep(SLOT))).isTrue();
        assertThat(other.take(board.sleep(SLOT))).isTrue();
        assertThat(other.take(board.sleep(SLOT))).isFalse();
        board.setSleep(SLOT, 0);
        assertThat(other.take(board.sleep(SLOT))).isFalse();
        board.setSleep(SLOT, 6);
        assertThat(other.take(board.sleep(SLOT))).isTrue();
    }
}
