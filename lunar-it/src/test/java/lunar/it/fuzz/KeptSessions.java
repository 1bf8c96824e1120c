package lunar.it.fuzz;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.iscsi.login.DigestChoice;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * Two sessions, one with digests and one with short segments, that write and read continuously on a LUN of their own.
 * Every block contains its address and write count, so any deviation from the last write is found.
 */
final class KeptSessions implements AutoCloseable {
    static final int COUNT = 2;

    private static final int BLOCK = 512;
    private static final int MAX_BLOCKS = 128;

    /** Most reads come in several Data-In, long ones and a short one. */
    private static final int SHORT_SEGMENT = 16 << 10;
    private static final long PAUSE_NS = 1_000_000;

    private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:keeper");
    private final Session plain;
    private final Session digested;
    private final List<BlockDevice> luns;
    private final int[] versions;
    private final MemorySegment buffer = Arena.ofAuto().allocate(MAX_BLOCKS * BLOCK, 4096);
    private final SeededRandom random;
    private final ReentrantLock working = new ReentrantLock(true);
    private final Thread thread;
    private volatile boolean stop;
    private volatile @Nullable Throwable failure;
    private volatile long operations;

    KeptSessions(InetSocketAddress portal, long seed) throws IOException, StorageException {
        SessionOptions options = SessionOptions
                .of(portal.getHostString(), portal.getPort(), Peers.KEPT).withChap(Peers.KEEPER);
        plain = initiator.login(options.withOffer(options.offer()
                .withMaxReceiveDataSegmentLength(SHORT_SEGMENT)));
        digested = initiator.login(options.withOffer(options.offer()
                .withHeaderDigest(DigestChoice.REQUIRE_CRC32C)
                .withDataDigest(DigestChoice.REQUIRE_CRC32C)));
        luns = List.of(plain.open(Lun.ZERO), digested.open(Lun.ZERO));
        versions = new int[(int) luns.getFirst().blockCount()];
        random = SeededRandom.of(seed, -1);
        thread = Thread.ofPlatform().name("fuzz-kept").daemon().start(this::run);
    }

    private void run() {
        try {
            while (!stop) {
                working.lock();
                try {
                    step();
                } finally {
                    working.unlock();
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        } catch (StorageException | RuntimeException e) {
            failure = e;
        }
    }

    private void step() throws StorageException {
        BlockDevice lun = random.of(luns);
        int blocks = random.percent(80) ? random.between(1, 16) : random.between(1, MAX_BLOCKS);
        int lba = random.below(versions.length - blocks + 1);
        MemorySegment data = buffer.asSlice(0, (long) blocks * BLOCK);
        if (random.percent(50)) {
            for (int i = 0; i < blocks; i++) {
                fill(data, i, lba + i, ++versions[lba + i]);
            }
            lun.write(lba, data);
        } else {
            lun.read(lba, data);
            for (int i = 0; i < blocks; i++) {
                verify(data, i, lba + i);
            }
        }
        operations++;
    }

    private static void fill(MemorySegment data, int at, int lba, int version) {
        for (int word = 0; word < BLOCK / 8; word++) {
            data.setAtIndex(ValueLayout.JAVA_LONG, (long) at * BLOCK / 8 + word,
                    word(lba, version, word));
        }
    }

    private void verify(MemorySegment data, int at, int lba) {
        for (int word = 0; word < BLOCK / 8; word++) {
            long read = data.getAtIndex(ValueLayout.JAVA_LONG, (long) at * BLOCK / 8 + word);
            long written = versions[lba] == 0 ? 0 : word(lba, versions[lba], word);
            if (read != written) {
                throw new FuzzFailure("block " + lba + " word " + word + " of the kept LUN is "
                        + Long.toHexString(read) + ", not " + Long.toHexString(written));
            }
        }
    }

    private static long word(int lba, int version, int word) {
        return ((long) lba << 32 | version) * 0x9e37_79b9_7f4a_7c15L + word;
    }

    /** Throws if anything went wrong. */
    void check() {
        Throwable e = failure;
        if (e != null) {
            throw new FuzzFailure("the session that must not notice anything has: " + e, e);
        }
    }

    /** Verified reads and writes without an error. */
    long operations() { return operations; }

    /** Nothing is in flight until {@link #resume}. */
    void pause() { working.lock(); }

    void resume() { working.unlock(); }

    @Override
    public void close() {
        stop = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        initiator.close();
    }
}
