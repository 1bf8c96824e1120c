package lunar.scsi.target.reservation;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Optional;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.reservation.ReservationState.Held;

/**
 * Reservations as they are kept on disk. Numbers are big-endian.
 *
 * <pre>
 * version (1) = 2, generation (8), registrations (4)
 * each: key (8), relative target port (2), initiator port, name of the target (each length (2), UTF-8)
 * type of the reservation (1), 0 for none, and index of the holder's registration (4)
 * </pre>
 *
 * Version 1 is without the names of targets.
 */
final class ReservationFormat {
    private static final int VERSION = 2;
    private static final int WITHOUT_TARGETS = 1;

    private ReservationFormat() {}

    static byte[] encode(ReservationState state) {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeLong(state.generation());
            out.writeInt(state.keys().size());
            int holder = 0;
            int index = 0;
            for (var entry : state.keys().entrySet()) {
                out.writeLong(entry.getValue());
                out.writeShort(entry.getKey().relativePort());
                out.writeUTF(entry.getKey().initiatorPort());
                out.writeUTF(entry.getKey().targetName());
                if (state.held().isPresent()
                        && state.held().get().holder().equals(entry.getKey())) {
                    holder = index;
                }
                index++;
            }
            out.writeByte(state.held().map(held -> held.type().code()).orElse(0));
            out.writeInt(holder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * @param targetName of registrations that were saved without one
     * @throws IOException when these are not reservations
     */
    static ReservationState decode(byte[] bytes, String targetName) throws IOException {
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int version = in.readUnsignedByte();
            if (version != VERSION && version != WITHOUT_TARGETS) {
                throw new IOException("reservations of version " + version);
            }
            long generation = in.readLong();
            int count = in.readInt();
            if (count < 0 || count > Reservations.MAX_REGISTRATIONS) {
                throw new IOException("reservations with " + count + " registrations");
            }
            var keys = new LinkedHashMap<Registrant, Long>();
            var saved = new ArrayList<Registrant>();
            for (int i = 0; i < count; i++) {
                long key = in.readLong();
                int port = in.readUnsignedShort();
                String initiatorPort = in.readUTF().toLowerCase(Locale.ROOT); // it was not always saved so
                var registrant = new Registrant(initiatorPort,
                        version == WITHOUT_TARGETS ? targetName : in.readUTF(), port);
                saved.add(registrant);
                keys.put(registrant, key);
            }
            Optional<ReservationType> type = ReservationType.of(in.readUnsignedByte());
            int holder = in.readInt();
            if (type.isPresent() && (holder < 0 || holder >= saved.size())) {
                throw new IOException("reservations without their holder");
            }
            return new ReservationState(generation, keys,
                    type.map(known -> new Held(saved.get(holder), known)),
                    true);
        }
    }
}
