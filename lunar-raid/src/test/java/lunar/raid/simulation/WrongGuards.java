package lunar.raid.simulation;

import java.lang.foreign.MemorySegment;
import java.util.function.Predicate;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.raid.CheckedDevice;
import lunar.raid.StripeChange;
import lunar.raid.WriteGuard;
import org.jspecify.annotations.Nullable;

/** Guards and keepers with one mistake each. */
final class WrongGuards {
    private WrongGuards() {}

    /** A right guard, of which something is changed. */
    private static class Changed implements WriteGuard {
        final WriteGuard right;

        Changed(WriteGuard right) { this.right = right; }

        @Override
        public int maxBytes() { return right.maxBytes(); }

        @Override
        public void begin(StripeChange change, Ready ready) { right.begin(change, ready); }

        @Override
        public void end(StripeChange change, boolean written) { right.end(change, written); }

        @Override
        public long beginFlush() { return right.beginFlush(); }

        @Override
        public void endFlush(long begun) { right.endFlush(begun); }

        @Override
        public void abandon(StorageException why) { right.abandon(why); }

        @Override
        public void watch() { right.watch(); }

        @Override
        public void settle(Runnable done) { right.settle(done); }

        @Override
        public BlockDevice member(BlockDevice device) { return right.member(device); }
    }

    /** A change that says of itself what is not so. */
    private record Pretended(StripeChange change, boolean isFullStripe, boolean fua)
            implements StripeChange {
        @Override
        public long stripe() { return change.stripe(); }

        @Override
        public boolean isUndone() { return change.isUndone(); }

        @Override
        public int writes() { return change.writes(); }

        @Override
        public int slot(int write) { return change.slot(write); }

        @Override
        public long memberBlock(int write) { return change.memberBlock(write); }

        @Override
        public int blocks(int write) { return change.blocks(write); }

        @Override
        public MemorySegment data(int write) { return change.data(write); }

        @Override
        public @Nullable Object attachment() { return change.attachment(); }

        @Override
        public void attach(Object attachment) { change.attach(attachment); }
    }

    /** A member some of whose requests go past its checksums. */
    private static final class Careless extends ForwardingDevice implements CheckedDevice {
        private final CheckedDevice right;
        private final Predicate<BlockRequest> passesBy;

        Careless(CheckedDevice right, Predicate<BlockRequest> passesBy) {
            super(right);
            this.right = right;
            this.passesBy = passesBy;
        }

        @Override
        public void submit(BlockRequest request) {
            if (passesBy.test(request)) {
                ((ForwardingDevice) right).below().submit(request);
            } else {
                right.submit(request);
            }
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            right.execute(request);
        }

        @Override
        public void submitChecked(BlockRequest read) { right.submitChecked(read); }
    }

    private static Rules forgetsChecksums(Predicate<BlockRequest> when) {
        return Rules.guard(guard -> new Changed(guard) {
            @Override
            public BlockDevice member(BlockDevice device) {
                return new Careless((CheckedDevice) right.member(device), when);
            }
        });
    }

    /** Writes of single blocks leave the previous checksums. */
    static Rules forgetsChecksumsOfShortWrites() {
        return forgetsChecksums(request -> request.operation() == Operation.WRITE
                && request.blockCount() == 1);
    }

    /** Of what is zeroed without data they are the same as before, too. */
    static Rules forgetsChecksumsOfZeroes() {
        return forgetsChecksums(request -> request.operation() == Operation.UNMAP
                || request.operation() == Operation.WRITE_ZEROES);
    }

    /** There is none. */
    static Rules guardsNothing() { return Rules.guard(_ -> WriteGuard.NONE); }

    /** The entry of the journal is freed, and the bit given back, before the change is in place. */
    static Rules endsBeforeTheWrite() {
        return Rules.guard(guard -> new Changed(guard) {
            @Override
            public void begin(StripeChange change, Ready ready) {
                right.begin(new Pretended(change, change.isFullStripe(), true), why -> {
                    if (why == null) {
                        right.end(new Pretended(change, change.isFullStripe(), true), true);
                    }
                    ready.ready(why);
                });
            }

            @Override
            public void end(StripeChange change, boolean written) {
                // That was before.
            }
        });
    }

    /** The entry is freed when the change is in place, and not only when it is stable there. */
    static Rules freesBeforeTheFlush() {
        return Rules.guard(guard -> new Changed(guard) {
            @Override
            public void end(StripeChange change, boolean written) {
                right.end(new Pretended(change, change.isFullStripe(), true), written);
            }
        });
    }

    /** Writes in place when a flush begins count as stable at once; in all sections of a journal. */
    static Rules freesWhenAFlushBegins() {
        return Rules.guard(guard -> new Changed(guard) {
            @Override
            public long beginFlush() {
                long begun = right.beginFlush();
                right.endFlush(begun);
                return begun;
            }
        });
    }

    /** Entries of a stripe may be replayed after it was made anew, in another layout perhaps. */
    static Rules settlesNothing() {
        return Rules.guard(guard -> new Changed(guard) {
            @Override
            public void settle(Runnable done) { done.run(); }
        });
    }

    /** A part of a stripe is noted as if it were a whole one, without its data. */
    static Rules logsNoData() {
        return Rules.guard(guard -> new Changed(guard) {
            @Override
            public void begin(StripeChange change, Ready ready) {
                right.begin(new Pretended(change, true, change.fua()), ready);
            }
        });
    }

    /** A failed member is called so on the others some time after writes go on without it. */
    static Rules keepsTooLate() {
        return Rules.keeper(keeper -> (state, done) -> {
            done.completed(null);
            keeper.keep(state, _ -> {});
        });
    }
}
