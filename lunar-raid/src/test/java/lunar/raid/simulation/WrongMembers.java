package lunar.raid.simulation;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.ForwardingDevice;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;

/** Members that do not say rightly that they have lost their cache. */
final class WrongMembers {
    private WrongMembers() {}

    /** A target's flush after a power failure answers GOOD, and the initiator believes it. */
    static Rules hidesLosses() {
        return Rules.members((_, _, _, member) -> new Hiding(member, true));
    }

    /** Until the next flush, what has been lost is read. */
    static Rules reportsLossesByFlushesOnly() {
        return Rules.members((_, _, _, member) -> new Hiding(member, false));
    }

    private static final class Hiding extends ForwardingDevice {
        private final boolean hidesFailures;

        Hiding(BlockDevice below, boolean hidesFailures) {
            super(below);
            this.hidesFailures = hidesFailures;
        }

        @Override
        public long writeLosses() { return 0; }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            below().submit(!hidesFailures
                    ? request
                    : new BlockRequest().asCopyOf(request)
                            .onCompletion((_, failure) -> RequestCompletion.complete(request,
                                    failure instanceof LostWritesException ? null : failure)));
        }
    }
}
