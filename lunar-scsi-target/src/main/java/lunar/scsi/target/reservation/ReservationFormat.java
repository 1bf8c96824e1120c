package lunar.scsi.target.reservation;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.reservation.ReservationRecord.Effect;
import lunar.scsi.target.reservation.ReservationState.Held;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes reservations as stored on disk. Numbers are big-endian.
 *
 * <pre>
 * version (1) = 2, generation (8), registrations (4)
 * each: key (8), relative target port (2), initiator port, name of the target (each length (2), UTF-8)
 * type of the reservation (1), 0 for none, and index of the holder's registration (4)
 * </pre>
 *
 * Version 1 is without the names of targets. Version 3 is that of servers that share the unit; it goes on:
 *
 * <pre>
 * whether kept through a loss of power (1), number of changes (8), changes that are kept (2)
 * each: its number (8), nexuses that it concerns (2)
 * each: relative target port, initiator port, target as above, ASC and ASCQ, 0 for none (2), whether aborted (1)
 * </pre>
 */
final class ReservationFormat {
    private static final int SHARED = 3;
    private static final int VERSION = 2;
    private static final int WITHOUT_TARGETS = 1;

    private ReservationFormat() {}

    static byte[] encode(ReservationState state) {
        return encode(out -> state(out, VERSION, state));
    }

    /** Encodes what servers that share a unit save. */
    static byte[] encode(ReservationRecord record) {
        return encode(out -> {
            state(out, SHARED, record.state());
            out.writeBoolean(record.state().persistent());
            out.writeLong(record.changes());
            out.writeShort(record.last().size());
            for (Effect effect : record.last()) {
                effect(out, effect);
            }
        });
    }

    @FunctionalInterface
    private interface Part {
        void write(DataOutputStream out) throws IOException;
    }

    private static byte[] encode(Part all) {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            all.write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void state(DataOutputStream out, int version, ReservationState state)
            throws IOException {
        out.writeByte(version);
        out.writeLong(state.generation());
        out.writeInt(state.keys().size());
        int holder = 0;
        int index = 0;
        for (var entry : state.keys().entrySet()) {
            out.writeLong(entry.getValue());
            registrant(out, entry.getKey());
            if (state.held().isPresent()
                    && state.held().get().holder().equals(entry.getKey())) {
                holder = index;
            }
            index++;
        }
        out.writeByte(state.held().map(held -> held.type().code()).orElse(0));
        out.writeInt(holder);
    }

    private static void registrant(DataOutputStream out, Registrant registrant)
            throws IOException {
        out.writeShort(registrant.relativePort());
        out.writeUTF(registrant.initiatorPort());
        out.writeUTF(registrant.targetName());
    }

    private static void effect(DataOutputStream out, Effect effect) throws IOException {
        var concerned = new LinkedHashSet<>(effect.attentions().keySet());
        concerned.addAll(effect.aborted());
        out.writeLong(effect.number());
        out.writeShort(concerned.size());
        for (Registrant one : concerned) {
            registrant(out, one);
            AdditionalSense told = effect.attentions().get(one);
            out.writeByte(told == null ? 0 : told.asc());
            out.writeByte(told == null ? 0 : told.ascq());
            out.writeBoolean(effect.aborted().contains(one));
        }
    }

    /**
     * @param targetName of registrations that were saved without one
     * @throws IOException when these are not reservations
     */
    static ReservationRecord decode(byte[] bytes, String targetName) throws IOException {
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int version = in.readUnsignedByte();
            if (version < WITHOUT_TARGETS || version > SHARED) {
                throw new IOException("saved reservations have unknown version " + version);
            }
            ReservationState state = state(in, version == WITHOUT_TARGETS ? targetName : null);
            if (version != SHARED) {
                return new ReservationRecord(state, 0, List.of());
            }
            ReservationState shared = state.persisting(in.readBoolean());
            long changes = in.readLong();
            var last = new ArrayList<Effect>();
            for (int left = in.readUnsignedShort(); left > 0; left--) {
                last.add(effect(in));
            }
            return new ReservationRecord(shared, changes, last);
        }
    }

    /** @param targetName of the registrations; null where it is saved with each of them */
    private static ReservationState state(DataInputStream in, @Nullable String targetName)
            throws IOException {
        long generation = in.readLong();
        int count = in.readInt();
        if (count < 0 || count > Reservations.MAX_REGISTRATIONS) {
            throw new IOException("saved reservations with invalid registration count: " + count);
        }
        var keys = new LinkedHashMap<Registrant, Long>();
        var saved = new ArrayList<Registrant>();
        for (int i = 0; i < count; i++) {
            long key = in.readLong();
            Registrant registrant = registrant(in, targetName);
            saved.add(registrant);
            keys.put(registrant, key);
        }
        Optional<ReservationType> type = ReservationType.of(in.readUnsignedByte());
        int holder = in.readInt();
        if (type.isPresent() && (holder < 0 || holder >= saved.size())) {
            throw new IOException("saved reservations without registration of the holder");
        }
        return new ReservationState(generation, keys,
                type.map(known -> new Held(saved.get(holder), known)), true);
    }

    private static Registrant registrant(DataInputStream in, @Nullable String targetName)
            throws IOException {
        int port = in.readUnsignedShort();
        String initiatorPort = in.readUTF().toLowerCase(Locale.ROOT); // it was not always saved so
        return new Registrant(initiatorPort, targetName == null ? in.readUTF() : targetName, port);
    }

    private static Effect effect(DataInputStream in) throws IOException {
        long number = in.readLong();
        var attentions = new HashMap<Registrant, AdditionalSense>();
        var aborted = new HashSet<Registrant>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            Registrant one = registrant(in, null);
            var told = new AdditionalSense(in.readUnsignedByte(), in.readUnsignedByte());
            if (told.asc() != 0) {
                attentions.put(one, told);
            }
            if (in.readBoolean()) {
                aborted.add(one);
            }
        }
        return new Effect(number, attentions, aborted);
    }
}
