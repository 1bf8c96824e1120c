package lunar.scsi.target.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.scsi.target.UnitState;

/**
 * The erasure of a unit that goes on or has failed, and the server that it is of. Immutable. It is saved as
 * {@link Erasure#bytes}, of servers that share the unit after a header:
 *
 * <pre>
 * 0 format of what follows, 2   1-16 server   17 {@link Erasure#bytes}
 * </pre>
 *
 * @param erasure empty where the last one has succeeded
 * @param server empty for the only server, or where it is not known
 */
record ErasureState(Optional<Erasure> erasure, Optional<UUID> server) {
    static final ErasureState NONE = new ErasureState(Optional.empty(), Optional.empty());

    private static final byte SHARED = 2;
    private static final int HEADER_LENGTH = 17;

    /** Whether it has not ended. */
    boolean goesOn() {
        return erasure.isPresent() && !erasure.get().hasFailed();
    }

    boolean isOf(UUID one) { return server.isPresent() && server.get().equals(one); }

    /**
     * Returns the format of the erasures of a device.
     *
     * @param shared whether servers share the unit
     */
    static UnitState.Format<ErasureState> format(boolean shared, BlockDevice device) {
        return new UnitState.Format<>() {
            @Override
            public byte[] encode(ErasureState state) {
                byte[] erasure = state.erasure.map(Erasure::bytes).orElse(new byte[0]);
                return !shared || state.server.isEmpty()
                        ? erasure
                        : ByteBuffer.allocate(HEADER_LENGTH + erasure.length).put(SHARED)
                                .putLong(state.server.get().getMostSignificantBits())
                                .putLong(state.server.get().getLeastSignificantBits())
                                .put(erasure).array();
            }

            @Override
            public ErasureState decode(byte[] saved) throws IOException {
                boolean named = saved[0] == SHARED && saved.length >= HEADER_LENGTH;
                ByteBuffer header = ByteBuffer.wrap(saved, 1, named ? HEADER_LENGTH - 1 : 0);
                Optional<UUID> server = named
                        ? Optional.of(new UUID(header.getLong(), header.getLong()))
                        : Optional.empty();
                byte[] erasure = named
                        ? Arrays.copyOfRange(saved, HEADER_LENGTH, saved.length)
                        : saved;
                return new ErasureState(
                        Optional.of(Erasure.decode(erasure, device.blockSize())
                                .orElseThrow(() -> new IOException("the saved erasure of " + device
                                        + " is damaged; restore the state 'erasure', or remove it"
                                        + " and erase the unit again"))),
                        server);
            }
        };
    }
}
