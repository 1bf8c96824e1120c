package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Latencies;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Work;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import lunar.bench.load.LoadOrder.Window;
import lunar.bench.harness.Work.Operation;
import lunar.initiator.IscsiUri;
import lunar.initiator.SessionOptions;
import lunar.scsi.Lun;

/** Load by libiscsi like {@code iscsi-perf}: one polling thread. Can write, too. */
final class LibiscsiLoad implements Load {
    private static final int ALIGNMENT = 4096;
    /** Block size of each LUN that is measured. */
    private static final int BLOCK_BYTES = 512;

    @Override
    public LoadResult run(LoadOrder order) throws BenchException {
        if (order.sessions() != 1 || order.terms() != Pair.Terms.USUAL
                || order.work().operation() == Operation.MIXED
                || order.work().operation() == Operation.NO_DATA) {
            throw new BenchException(
                    "libiscsi supports only one session, one direction, no digests");
        }
        IscsiUri uri = IscsiUri.parse(order.uri());
        SessionOptions login = uri.sessionOptions();
        int lun = uri.lun().orElse(Lun.ZERO).number();
        MemorySegment context = Libiscsi.connect(login.portal().host() + ":"
                + login.portal().port(), login.targetName(), "iqn.2026-11.org.lunar:libiscsi", lun);
        try (Arena arena = Arena.ofShared()) {
            try {
                var queue = new Queue(order, context, lun, arena);
                queue.run();
                return LoadResult.of(queue.window, List.of(queue.latencies));
            } finally {
                Libiscsi.disconnect(context); // before the buffers go
            }
        }
    }

    /** The requests in flight. */
    private static final class Queue implements Libiscsi.Callback {
        private final Work work;
        private final MemorySegment context;
        private final int lun;
        private final MemorySegment descriptor;
        private final MemorySegment callback;
        private final MemorySegment[] buffers;
        private final MemorySegment[] vectors;
        private final long[] startNs;
        /** Slots without a request; so many of them are. */
        private final int[] free;
        private int freeCount;
        private boolean failed;
        private final Places places;
        private final Latencies latencies = new Latencies();
        private final Window window;

        Queue(LoadOrder order, MemorySegment context, int lun, Arena arena) {
            work = order.work();
            this.context = context;
            this.lun = lun;
            places = new Places(work, order.lunBytes(), 0, new AtomicLong());
            descriptor = Libiscsi.descriptor(arena);
            callback = Libiscsi.callback(this, arena);
            buffers = new MemorySegment[work.depth()];
            vectors = new MemorySegment[work.depth()];
            startNs = new long[work.depth()];
            free = new int[work.depth()];
            for (int i = 0; i < work.depth(); i++) {
                buffers[i] = arena.allocate(work.requestBytes(), ALIGNMENT);
                places.fill(buffers[i]);
                vectors[i] = arena.allocate(Libiscsi.VECTOR);
                vectors[i].set(ValueLayout.ADDRESS, 0, buffers[i]);
                vectors[i].set(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS.byteSize(),
                        work.requestBytes());
                free[freeCount++] = i;
            }
            window = order.window();
        }

        void run() throws BenchException {
            boolean over = false;
            while (!over || freeCount < free.length) {
                while (!over && freeCount > 0) {
                    begin(free[--freeCount]);
                }
                Libiscsi.await(context, descriptor);
                over = failed || window.isOver(System.nanoTime());
            }
            if (failed) {
                throw new BenchException("libiscsi: a request failed");
            }
        }

        private void begin(int slot) throws BenchException {
            long lba = places.next() * (work.requestBytes() / BLOCK_BYTES);
            startNs[slot] = System.nanoTime();
            if (work.writes()) {
                Libiscsi.beginWrite(context, lun, lba, buffers[slot], BLOCK_BYTES, callback, slot);
            } else {
                Libiscsi.beginRead(context, lun, lba, work.requestBytes(), BLOCK_BYTES,
                        vectors[slot], callback, slot);
            }
        }

        /** Nothing may be thrown through C. */
        @Override
        public void ended(boolean good, long token) {
            int slot = (int) token;
            long now = System.nanoTime();
            failed |= !good;
            if (window.holds(now)) {
                latencies.add(now - startNs[slot]);
            }
            free[freeCount++] = slot;
        }
    }
}
