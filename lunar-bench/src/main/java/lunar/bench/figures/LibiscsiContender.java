package lunar.bench.figures;

import lunar.bench.load.Lane;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Server;
import lunar.bench.harness.Stamps;
import lunar.bench.load.Libiscsi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** libiscsi, called from Java: with one session per thread, as the library requires. */
final class LibiscsiContender implements Contender {
    private static final int LUN = 0;

    private final Arena arena = Arena.ofShared();
    private final int port;
    private final String target;
    private final int blockBytes;
    private final int blocks;
    private final List<MemorySegment> contexts = new ArrayList<>();

    /** @param port of the target, on loopback */
    LibiscsiContender(int port, String target, int blockBytes) {
        this.port = port;
        this.target = target;
        this.blockBytes = blockBytes;
        blocks = Stamps.BYTES / blockBytes;
    }

    @Override
    public String label() { return "libiscsi"; }

    /** With its own name, so that the target does not treat one session as the reinstatement of another. */
    private MemorySegment connect() throws BenchException {
        MemorySegment context = Libiscsi.connect(Server.HOST + ":" + port, target,
                "iqn.2026-11.org.lunar:libiscsi-" + contexts.size(), LUN);
        contexts.add(context);
        return context;
    }

    private MemorySegment buffer() { return arena.allocate(Stamps.BYTES, Stamps.BYTES); }

    private MemorySegment vector(MemorySegment buffer) {
        MemorySegment vector = arena.allocate(Libiscsi.VECTOR);
        vector.set(ValueLayout.ADDRESS, 0, buffer);
        vector.set(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS.byteSize(), buffer.byteSize());
        return vector;
    }

    @Override
    public Lane blocking() throws BenchException {
        MemorySegment context = connect();
        MemorySegment buffer = buffer();
        MemorySegment vector = vector(buffer);
        return (write, places) -> {
            for (int place : places) {
                long lba = (long) place * blocks;
                if (write) {
                    Stamps.put(buffer, place);
                    Libiscsi.write(context, LUN, lba, buffer, blockBytes);
                } else {
                    Libiscsi.read(context, LUN, lba, Stamps.BYTES, blockBytes, vector);
                    Stamps.check(buffer, place);
                }
            }
        };
    }

    @Override
    public Lane queued(int depth) throws BenchException { return new Queue(connect(), depth); }

    /** As {@code iscsi-perf} does it: one thread, which polls. */
    private final class Queue implements Lane, Libiscsi.Callback {
        private final MemorySegment context;
        private final MemorySegment descriptor = Libiscsi.descriptor(arena);
        private final MemorySegment callback = Libiscsi.callback(this, arena);
        private final MemorySegment[] buffers;
        private final MemorySegment[] vectors;
        private final int[] placeOf;
        /** Slots without a request; so many of them are. */
        private final int[] free;
        private int freeCount;
        private boolean writing;
        private boolean failed;

        Queue(MemorySegment context, int depth) {
            this.context = context;
            buffers = new MemorySegment[depth];
            vectors = new MemorySegment[depth];
            placeOf = new int[depth];
            free = new int[depth];
            for (int i = 0; i < depth; i++) {
                buffers[i] = buffer();
                vectors[i] = vector(buffers[i]);
                free[freeCount++] = i;
            }
        }

        @Override
        public void run(boolean write, int[] places) throws BenchException {
            writing = write;
            int next = 0;
            while (next < places.length || freeCount < free.length) {
                while (next < places.length && freeCount > 0) {
                    begin(free[--freeCount], places[next++]);
                }
                Libiscsi.await(context, descriptor);
            }
            if (failed) {
                throw new BenchException("libiscsi: a request failed, or read wrong data");
            }
        }

        private void begin(int slot, int place) throws BenchException {
            placeOf[slot] = place;
            long lba = (long) place * blocks;
            if (writing) {
                Stamps.put(buffers[slot], place);
                Libiscsi.beginWrite(context, LUN, lba, buffers[slot], blockBytes, callback, slot);
            } else {
                Libiscsi.beginRead(context, LUN, lba, Stamps.BYTES, blockBytes, vectors[slot],
                        callback,
                        slot);
            }
        }

        /** Nothing may be thrown through C. */
        @Override
        public void ended(boolean good, long token) {
            int slot = (int) token;
            failed |= !good || (!writing && !Stamps.isAt(buffers[slot], placeOf[slot]));
            free[freeCount++] = slot;
        }
    }

    @Override
    public void close() {
        contexts.forEach(Libiscsi::disconnect);
        arena.close();
    }
}
