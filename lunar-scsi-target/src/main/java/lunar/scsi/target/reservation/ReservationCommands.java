package lunar.scsi.target.reservation;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.reservation.PersistentReserveIn;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.RegisterAndMoveParameters;
import lunar.scsi.reservation.Release;
import lunar.scsi.reservation.ReservationCapabilities;
import lunar.scsi.reservation.ReservationFullStatus;
import lunar.scsi.reservation.ReservationKeys;
import lunar.scsi.reservation.ReservationStatus;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.Reserve;
import lunar.scsi.reservation.ReserveOutParameters;
import lunar.scsi.reservation.TransportId;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.InitiatorPort;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ReaderRule;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.TargetPort;
import lunar.scsi.target.reservation.ReservationRules.Change;
import org.jspecify.annotations.Nullable;

/** Executes PERSISTENT RESERVE IN and OUT (SPC-5 sections 6.15 and 6.16), RESERVE and RELEASE (SPC-2). */
public final class ReservationCommands {
    /** Maximum parameter list length; 256 TransportIDs fit. */
    private static final int MAX_LIST_BYTES = 1 << 16;

    /** Maximum registrations of a read-only initiator per target port: the paths of a host, and some stale ones. */
    private static final int READER_REGISTRATIONS = 16;

    private static final Sense NO_ROOM = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INSUFFICIENT_REGISTRATION_RESOURCES);
    private static final Sense INVALID_RELEASE = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.INVALID_RELEASE_OF_PERSISTENT_RESERVATION);

    private final LogicalUnit unit;
    private final Reservations reservations;
    private final ReservationEffects effects;

    public ReservationCommands(LogicalUnit unit) {
        this.unit = unit;
        reservations = unit.reservations();
        effects = new ReservationEffects(unit);
    }

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.add(CommandHandler.of(PersistentReserveIn.class, Access.FREE, this::tell)
                .passing((_, state) -> state == State.STANDBY))
                .add(CommandHandler.of(PersistentReserveOut.class, Access.FREE, this::change)
                        .withDataOut(out -> Math.min(MAX_LIST_BYTES, out.parameterListLength()))
                        .forReaders(ReservationCommands::readerRule)
                        .passing((_, state) -> state == State.STANDBY));
        if (!reservations.store().isShared()) { // RESERVE is bound to a session, which other servers do not know
            commands.add(CommandHandler.of(Reserve.class, Access.FREE, this::reserve)
                    .forReaders(ReaderRule.DENIED))
                    .on(Release.class, Access.FREE, this::release); // does not affect reservations of other nexuses
        }
    }

    /**
     * Returns the rule for read-only initiators: they may register, because registrants-only reservations require it;
     * registering takes nothing from other initiators.
     */
    private static ReaderRule readerRule(PersistentReserveOut command) {
        return command.serviceAction() == PersistentReserveOut.REGISTER
                || command.serviceAction() == PersistentReserveOut.REGISTER_AND_IGNORE_EXISTING_KEY
                        ? ReaderRule.ALLOWED
                        : ReaderRule.DENIED;
    }

    // --- PERSISTENT RESERVE IN ---

    private void tell(ScsiTask task, PersistentReserveIn command) {
        if (reservations.isReservedByOther(task.nexus())) {
            task.end(Status.RESERVATION_CONFLICT);
            return;
        }
        ReservationState state = reservations.state();
        ParameterData data = switch (command.serviceAction()) {
            case PersistentReserveIn.READ_KEYS ->
                new ReservationKeys(state.generation(), List.copyOf(state.keys().values()));
            case PersistentReserveIn.READ_RESERVATION ->
                new ReservationStatus(state.generation(), state.held()
                        .map(held -> new ReservationStatus.Held(held.type().isAllRegistrants()
                                ? 0
                                : state.keys().getOrDefault(held.holder(), 0L), held.type())));
            case PersistentReserveIn.REPORT_CAPABILITIES ->
                new ReservationCapabilities(true, true, true,
                        reservations.store().isPersistent(), state.persistent());
            default -> fullStatus(state);
        };
        task.good(data.bytes(), command.allocationLength());
    }

    private static ReservationFullStatus fullStatus(ReservationState state) {
        return new ReservationFullStatus(state.generation(), state.keys().entrySet().stream()
                .map(entry -> new ReservationFullStatus.Registration(entry.getValue(),
                        state.isHolder(entry.getKey())
                                ? Optional.of(state.held().orElseThrow().type())
                                : Optional.empty(),
                        entry.getKey().relativePort(), id(entry.getKey())))
                .toList());
    }

    private static TransportId id(Registrant registrant) {
        String port = registrant.initiatorPort();
        int comma = port.lastIndexOf(",i,0x");
        return new TransportId(port.substring(0, comma),
                OptionalLong.of(Long.parseUnsignedLong(port.substring(comma + 5), 16)));
    }

    // --- PERSISTENT RESERVE OUT ---

    private void change(ScsiTask task, PersistentReserveOut command) {
        if (reservations.isReservedByOther(task.nexus())) {
            task.end(Status.RESERVATION_CONFLICT);
            return;
        }
        if (task.dataOut().byteSize() != command.parameterListLength()) {
            task.checkCondition(InvalidParameterListException.length().sense());
            return;
        }
        task.work(() -> changed(task, command));
    }

    private Consumer<ScsiTask> changed(ScsiTask task, PersistentReserveOut command)
            throws StorageException, IllegalRequestException {
        Change change = command.serviceAction() == PersistentReserveOut.REGISTER_AND_MOVE
                ? move(task, RegisterAndMoveParameters.decode(task.dataOut()))
                : change(task, command, ReserveOutParameters.decode(task.dataOut()));
        if (change == null) {
            return ended -> ended.end(Status.RESERVATION_CONFLICT);
        }
        // The tasks of preempted nexuses end before the command does (SPC-5 section 5.13.11.2.7).
        effects.apply(change.attentions(), change.aborted()).join();
        return ScsiTask::good;
    }

    private @Nullable Change change(ScsiTask task, PersistentReserveOut command,
            ReserveOutParameters list) throws StorageException, IllegalRequestException {
        Registrant registrant = task.nexus().registrant();
        if (command.serviceAction() != PersistentReserveOut.REGISTER
                && list.specifiesInitiators()) {
            throw InvalidParameterListException.field(20, 3);
        }
        return switch (command.serviceAction()) {
            case PersistentReserveOut.REGISTER -> register(task, list, false);
            case PersistentReserveOut.REGISTER_AND_IGNORE_EXISTING_KEY ->
                register(task, list, true);
            case PersistentReserveOut.RESERVE -> {
                ReservationType type = type(command);
                yield reservations.change(state -> state.hasKey(registrant, list.reservationKey())
                        ? ReservationRules.reserve(state, registrant, type).orElse(null)
                        : null, task::aborted);
            }
            case PersistentReserveOut.RELEASE -> reservations.change(state -> {
                if (!state.hasKey(registrant, list.reservationKey())) {
                    return null;
                }
                return ReservationRules
                        .release(state, registrant, command.scope() == 0
                                ? ReservationType.of(command.type())
                                : Optional.empty())
                        .orElseThrow(() -> new InvalidParameterListException(INVALID_RELEASE));
            }, task::aborted);
            case PersistentReserveOut.CLEAR ->
                reservations.change(state -> state.hasKey(registrant, list.reservationKey())
                        ? ReservationRules.clear(state, registrant)
                        : null, task::aborted);
            default -> preempt(task, type(command), list,
                    command.serviceAction() == PersistentReserveOut.PREEMPT_AND_ABORT);
        };
    }

    private @Nullable Change preempt(ScsiTask task, ReservationType type,
            ReserveOutParameters list, boolean aborts)
            throws StorageException, IllegalRequestException {
        Registrant registrant = task.nexus().registrant();
        return reservations.change(state -> {
            if (!state.hasKey(registrant, list.reservationKey())) {
                return null;
            }
            boolean all = state.held().isPresent()
                    && state.held().get().type().isAllRegistrants();
            if (list.serviceActionKey() == 0 && !all) {
                throw InvalidParameterListException.field(8);
            }
            return ReservationRules.preempt(state, registrant, list.serviceActionKey(), type,
                    aborts).orElse(null);
        }, task::aborted);
    }

    private static ReservationType type(PersistentReserveOut command) throws InvalidCdbException {
        if (command.scope() != 0) {
            throw InvalidCdbException.field(2, 7);
        }
        return ReservationType.of(command.type())
                .orElseThrow(() -> InvalidCdbException.field(2, 3));
    }

    private @Nullable Change register(ScsiTask task, ReserveOutParameters list,
            boolean ignoreKey) throws StorageException, IllegalRequestException {
        Nexus nexus = task.nexus();
        if (list.persistent() && !reservations.store().isPersistent()) {
            throw InvalidParameterListException.field(20, 0); // PTPL_C is clear
        }
        boolean readOnly = nexus.luns().isReadOnly(unit);
        if (readOnly && list.specifiesInitiators()) { // it may register only itself
            throw InvalidParameterListException.field(20, 3);
        }
        Registrant self = nexus.registrant();
        return reservations.change(state -> {
            boolean registered = state.isRegistered(self);
            if (registered && list.specifiesInitiators()) {
                throw InvalidParameterListException.field(20, 3);
            }
            if (!ignoreKey && (registered
                    ? !state.hasKey(self, list.reservationKey())
                    : list.reservationKey() != 0)) {
                return null;
            }
            if (!registered && list.serviceActionKey() == 0) {
                return Change.to(state); // unregistering an unregistered nexus is not an error
            }
            Set<Registrant> all = registrants(nexus, list);
            if (list.serviceActionKey() != 0) {
                long fresh = all.stream().filter(one -> !state.isRegistered(one)).count();
                if (state.keys().size() + fresh > Reservations.MAX_REGISTRATIONS
                        || (readOnly && fresh > 0
                                && ownCount(state, nexus) + fresh > roomOfReader())) {
                    throw new InvalidParameterListException(NO_ROOM);
                }
            }
            // APTPL belongs to the unit, not to the registration; the setting of writers stays (SPC-5 section 5.13.5).
            return ReservationRules.register(state, all, list.serviceActionKey(),
                    list.persistent() || (readOnly && state.persistent()));
        }, task::aborted);
    }

    /** Returns the number of registrations of all ports of the initiator. */
    private static long ownCount(ReservationState state, Nexus nexus) {
        String ports = nexus.initiatorName() + ",i,";
        return state.keys().keySet().stream()
                .filter(one -> one.initiatorPort().startsWith(ports))
                .count();
    }

    /** Returns the number of registrations left for a read-only initiator, which must not exhaust those of writers. */
    private int roomOfReader() {
        return READER_REGISTRATIONS * unit.portCount();
    }

    /**
     * Returns the registrants of a REGISTER: the sender and the ports it names, at this or every port of its target.
     */
    private Set<Registrant> registrants(Nexus nexus, ReserveOutParameters list)
            throws InvalidParameterListException {
        var names = new LinkedHashSet<String>();
        names.add(nexus.initiatorPort());
        for (TransportId id : list.initiators()) {
            if (!names.add(portName(id))) {
                throw InvalidParameterListException.field(28);
            }
        }
        List<TargetPort> ports = list.allTargetPorts()
                ? nexus.target().ports()
                : List.of(nexus.port());
        var all = new LinkedHashSet<Registrant>();
        names.forEach(name -> ports.forEach(port -> all.add(Registrant.of(name, port))));
        return all;
    }

    /** Returns the name of a port; a device name without a port means its only logged-in port. */
    private String portName(TransportId id) throws InvalidParameterListException {
        if (id.isid().isPresent()) {
            return new InitiatorPort(id.name(), id.isid().getAsLong()).name();
        }
        List<String> known = unit.nexuses().stream()
                .filter(nexus -> nexus.initiatorName().equals(id.name()))
                .map(Nexus::initiatorPort).distinct().toList();
        if (known.size() != 1) {
            throw InvalidParameterListException.field(28);
        }
        return known.getFirst();
    }

    private @Nullable Change move(ScsiTask task, RegisterAndMoveParameters list)
            throws StorageException, IllegalRequestException {
        Nexus nexus = task.nexus();
        if (list.persistent() && !reservations.store().isPersistent()) {
            throw InvalidParameterListException.field(17, 0);
        }
        Registrant registrant = nexus.registrant();
        return reservations.change(state -> {
            if (!state.hasKey(registrant, list.reservationKey()) || !state.isHolder(registrant)
                    || state.held().orElseThrow().type().isAllRegistrants()) {
                return null;
            }
            if (list.serviceActionKey() == 0) {
                throw InvalidParameterListException.field(8);
            }
            TargetPort port = nexus.target().ports().stream()
                    .filter(one -> one.relativeId() == list.relativePort()).findFirst()
                    .orElseThrow(() -> InvalidParameterListException.field(18));
            Registrant to = Registrant.of(portName(list.initiator()), port);
            if (to.equals(registrant)) {
                throw InvalidParameterListException.field(24);
            }
            if (!state.isRegistered(to)
                    && state.keys().size() == Reservations.MAX_REGISTRATIONS) {
                throw new InvalidParameterListException(NO_ROOM);
            }
            return ReservationRules.move(state, registrant, to, list.serviceActionKey(),
                    list.unregister(), list.persistent());
        }, task::aborted);
    }

    // --- RESERVE and RELEASE; CRH: those of a registrant succeed and change nothing (SPC-5 section 5.13.3) ---

    private void reserve(ScsiTask task, Reserve command) {
        ReservationState state = reservations.state();
        if (!state.keys().isEmpty()) {
            endCompatibly(task, state);
        } else if (reservations.reserve(task.nexus())) {
            task.good();
        } else {
            task.end(Status.RESERVATION_CONFLICT);
        }
    }

    private void release(ScsiTask task, Release command) {
        ReservationState state = reservations.state();
        if (!state.keys().isEmpty()) {
            endCompatibly(task, state);
            return;
        }
        reservations.release(task.nexus());
        task.good(); // also if nothing was reserved, or another nexus holds the reservation
    }

    private static void endCompatibly(ScsiTask task, ReservationState state) {
        Registrant registrant = task.nexus().registrant();
        boolean admitted = state.isHolder(registrant) || (state.isRegistered(registrant)
                && state.held().filter(held -> held.type().admitsRegistrants()).isPresent());
        if (admitted) {
            task.good();
        } else {
            task.end(Status.RESERVATION_CONFLICT);
        }
    }
}
