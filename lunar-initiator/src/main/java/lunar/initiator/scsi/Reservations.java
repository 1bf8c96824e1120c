package lunar.initiator.scsi;

import java.util.List;
import java.util.Set;
import lunar.block.InvalidRequestException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.scsi.ParameterData;
import lunar.scsi.reservation.PersistentReserveIn;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.RegisterAndMoveParameters;
import lunar.scsi.reservation.ReservationCapabilities;
import lunar.scsi.reservation.ReservationFullStatus;
import lunar.scsi.reservation.ReservationKeys;
import lunar.scsi.reservation.ReservationStatus;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.ReserveOutParameters;
import lunar.scsi.reservation.TransportId;

/**
 * Persistent reservations: PERSISTENT RESERVE IN and OUT (SPC-5 sections 6.15, 6.16 and 5.13). They belong to an I_T
 * nexus, that is, to the session's initiator port and the target's portal group; a session that needs its earlier
 * registration must log in with the same ISID.
 *
 * <p>A key is any number but 0. Every call that changes something throws {@link ReservationConflictException} when this
 * nexus is not registered with the given key, or is not allowed to make the request. A preempted nexus gets a unit
 * attention with its next command: {@code LunDevice.onAttention}.
 */
public final class Reservations {
    /** An option of a registration. */
    public enum Option {
        /** APTPL: registrations and reservation outlast a loss of power, from now on. */
        PERSIST,
        /** ALL_TG_PT: for every port of the target. */
        ALL_TARGET_PORTS
    }

    private static final int LOGICAL_UNIT_SCOPE = 0;
    private static final int NO_TYPE = 0;
    private static final int FIRST_BYTES = 1024;
    private static final int MAX_BYTES = 0xffff;
    private static final int CAPABILITIES_BYTES = 8;
    private static final Calls.Length LENGTH = Lengths.in32(4, 8);

    private final Calls calls;

    Reservations(Calls calls) { this.calls = calls; }

    // --- queries ---

    /** READ KEYS: every registered key. */
    public ReservationKeys keys() throws StorageException {
        return calls.ask(bytes -> in(PersistentReserveIn.READ_KEYS, bytes), FIRST_BYTES, MAX_BYTES,
                LENGTH, ReservationKeys::decode);
    }

    /** READ RESERVATION: the reservation, if there is one. */
    public ReservationStatus reservation() throws StorageException {
        return calls.ask(bytes -> in(PersistentReserveIn.READ_RESERVATION, bytes), FIRST_BYTES,
                MAX_BYTES, LENGTH, ReservationStatus::decode);
    }

    /** READ FULL STATUS: every registration, and the holder of the reservation. */
    public ReservationFullStatus fullStatus() throws StorageException {
        return calls.ask(bytes -> in(PersistentReserveIn.READ_FULL_STATUS, bytes), FIRST_BYTES,
                MAX_BYTES, LENGTH, ReservationFullStatus::decode);
    }

    /** REPORT CAPABILITIES. */
    public ReservationCapabilities capabilities() throws StorageException {
        return calls.ask(in(PersistentReserveIn.REPORT_CAPABILITIES, CAPABILITIES_BYTES),
                CAPABILITIES_BYTES, ReservationCapabilities::decode);
    }

    // --- registrations ---

    /** REGISTER: registers this nexus, which is not registered yet. */
    public void register(long key, Option... options) throws StorageException {
        change(0, key, options);
    }

    /** REGISTER: another key for this nexus, or the first one where {@code existing} is 0. */
    public void change(long existing, long key, Option... options) throws StorageException {
        Set<Option> all = Set.of(options);
        out(PersistentReserveOut.REGISTER, NO_TYPE, new ReserveOutParameters(existing, key, false,
                all.contains(Option.ALL_TARGET_PORTS), all.contains(Option.PERSIST), List.of()));
    }

    /** REGISTER AND IGNORE EXISTING KEY: registers this nexus, whatever key it had. */
    public void registerAnyhow(long key, Option... options) throws StorageException {
        Set<Option> all = Set.of(options);
        out(PersistentReserveOut.REGISTER_AND_IGNORE_EXISTING_KEY, NO_TYPE,
                new ReserveOutParameters(0, key, false, all.contains(Option.ALL_TARGET_PORTS),
                        all.contains(Option.PERSIST), List.of()));
    }

    /**
     * REGISTER with SPEC_I_PT: registers this nexus and other initiators.
     *
     * @param others up to 256 initiators or initiator ports
     * @throws InvalidRequestException if the target does not support that: see {@link #capabilities}
     */
    public void registerFor(List<TransportId> others, long key, Option... options)
            throws StorageException {
        Set<Option> all = Set.of(options);
        out(PersistentReserveOut.REGISTER, NO_TYPE, new ReserveOutParameters(0, key, true,
                all.contains(Option.ALL_TARGET_PORTS), all.contains(Option.PERSIST), others));
    }

    /** REGISTER with key 0: ends the registration of this nexus, and its reservation. */
    public void unregister(long key) throws StorageException {
        change(key, 0);
    }

    // --- the reservation ---

    /** RESERVE. Without effect where this nexus holds the reservation with the same type. */
    public void reserve(long key, ReservationType type) throws StorageException {
        out(PersistentReserveOut.RESERVE, type.code(), ReserveOutParameters.of(key, 0));
    }

    /** RELEASE. Without effect where this nexus does not hold the reservation. */
    public void release(long key, ReservationType type) throws StorageException {
        out(PersistentReserveOut.RELEASE, type.code(), ReserveOutParameters.of(key, 0));
    }

    /** CLEAR: ends the reservation and all registrations. */
    public void clear(long key) throws StorageException {
        out(PersistentReserveOut.CLEAR, NO_TYPE, ReserveOutParameters.of(key, 0));
    }

    /**
     * PREEMPT: ends the registrations with the key {@code victim}, and takes over the reservation where one of them
     * held it.
     *
     * @param victim key of the registrations to remove; 0 for all others, where all registrants hold the reservation
     */
    public void preempt(long key, long victim, ReservationType type) throws StorageException {
        out(PersistentReserveOut.PREEMPT, type.code(), ReserveOutParameters.of(key, victim));
    }

    /** PREEMPT AND ABORT: like {@link #preempt}, but also aborts the commands of the victims. */
    public void preemptAndAbort(long key, long victim, ReservationType type)
            throws StorageException {
        out(PersistentReserveOut.PREEMPT_AND_ABORT, type.code(),
                ReserveOutParameters.of(key, victim));
    }

    /**
     * REGISTER AND MOVE: hands the reservation to another nexus.
     *
     * @param type type of the reservation that this nexus holds
     * @param newKey key with which the new holder is registered
     * @param unregister whether this nexus' registration ends
     * @param relativePort RELATIVE TARGET PORT IDENTIFIER of the new holder's target port
     * @param newHolder its initiator port
     */
    public void registerAndMove(long key, ReservationType type, long newKey, boolean unregister,
            int relativePort, TransportId newHolder, Option... options) throws StorageException {
        out(PersistentReserveOut.REGISTER_AND_MOVE, type.code(),
                new RegisterAndMoveParameters(key, newKey, unregister,
                        Set.of(options).contains(Option.PERSIST), relativePort, newHolder));
    }

    private static PersistentReserveIn in(int serviceAction, int bytes) {
        return new PersistentReserveIn(serviceAction, bytes);
    }

    private void out(int serviceAction, int type, ParameterData list) throws StorageException {
        calls.send(new PersistentReserveOut(serviceAction, LOGICAL_UNIT_SCOPE, type,
                list.bytes().length), list);
    }
}
