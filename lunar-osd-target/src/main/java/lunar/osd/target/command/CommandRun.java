package lunar.osd.target.command;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import lunar.block.AbortedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectWriter;
import lunar.osd.store.StoredObject;
import lunar.osd.store.Timestamp;
import lunar.osd.target.attribute.CurrentCommand;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.sense.CommandFunction;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;

/**
 * A command that is executed: its data, its attributes, and the order of its work. A function of a command calls one of
 * {@link #change}, {@link #changeLast}, {@link #query} and {@link #attributes}, which perform the attribute functions
 * beside it and record the progress. Belongs to the thread of the command.
 */
final class CommandRun {
    /** The function of a command in a change of the store; returns the objects whose attributes are meant. */
    @FunctionalInterface
    interface Change {
        List<ObjectId> run(ObjectWriter objects) throws StorageException, RefusedException;
    }

    /** The function of a command in a query of the store. */
    @FunctionalInterface
    interface Query {
        void run(ObjectReader objects) throws StorageException, RefusedException;
    }

    private final OsdCdb command;
    private final DeviceState device;
    private final DataOut out;
    private final DataIn in;
    private final AttributeRequests requests;
    private final AttributePhases phases;
    private final FunctionProgress progress;
    private final CurrentCommand current;
    private final BooleanSupplier aborted;
    private final long nowMs;
    private final ObjectSettings container;
    private Optional<Sense> condition = Optional.empty();

    CommandRun(OsdCdb command, DeviceState device, DataOut out, DataIn in,
            AttributeRequests requests, FunctionProgress progress, BooleanSupplier aborted)
            throws StorageException {
        this.command = command;
        this.device = device;
        this.out = out;
        this.in = in;
        this.requests = requests;
        this.progress = progress;
        this.aborted = aborted;
        nowMs = device.clock().getAsLong();
        container = device.settings()
                .of(ObjectId.ofPartition(command.object().partition()));
        current = new CurrentCommand(typeOf(command.object()), command.object());
        phases = new AttributePhases(requests, command.common().version(), current,
                AttributePhases.facts(device, command.object(), nowMs), aborted);
    }

    /** Whether the command creates its object, which is not there yet and has the settings of its partition. */
    private static boolean creates(OsdCdb command) {
        return switch (command.action()) {
            case CREATE, CREATE_AND_WRITE, CREATE_COLLECTION, CREATE_USER_TRACKING_COLLECTION ->
                true;
            default -> false;
        };
    }

    private static ObjectType typeOf(ObjectId id) {
        if (id.isRoot()) {
            return ObjectType.ROOT;
        }
        return id.isPartition() ? ObjectType.PARTITION : ObjectType.USER_OBJECT;
    }

    DeviceState device() { return device; }

    ObjectStore store() { return device.store(); }

    DataOut out() { return out; }

    DataIn in() { return in; }

    AttributePhases phases() { return phases; }

    AttributeRequests requests() { return requests; }

    CurrentCommand current() { return current; }

    long nowMs() { return nowMs; }

    boolean isAborted() { return aborted.getAsBoolean(); }

    /** Returns the sense data that the command reports with its data, if any. */
    Optional<Sense> condition() {
        return condition;
    }

    /**
     * Makes the command report sense data although it has succeeded. These have the response integrity check value:
     * that of status GOOD would be one for a response that was never sent.
     */
    void report(Sense sense) {
        condition = Optional.of(sense);
        current.responseValue(Bytes.EMPTY);
    }

    /**
     * Returns the settings of the object that the command addresses, or will create. Not within a query or change for
     * an object that exists.
     */
    ObjectSettings settings() throws StorageException {
        return creates(command) ? container : device.settings().of(command.object());
    }

    private boolean gets() { return requests.gets() && in.retrieves(); }

    // --- the order of work ---

    /** Performs the function, then sets and gets attributes, all in one change of the store. */
    void change(Change function) throws StorageException, RefusedException {
        changing(objects -> {
            progress.begin(CommandFunction.COMMAND);
            List<ObjectId> targets = function.run(objects);
            progress.complete(CommandFunction.COMMAND);
            setAll(objects, targets);
            getAll(objects, targets);
            touchAttributes(objects, targets);
        });
    }

    /** Sets and gets attributes of the object, then performs the function, all in one change of the store. */
    void changeLast(Change check, Change function) throws StorageException, RefusedException {
        changing(objects -> {
            List<ObjectId> targets = check.run(objects);
            setAll(objects, targets);
            getAll(objects, targets);
            progress.begin(CommandFunction.COMMAND);
            List<ObjectId> _ = function.run(objects);
            progress.complete(CommandFunction.COMMAND);
        });
    }

    /** Gets attributes of an object, then sets them: GET ATTRIBUTES. */
    void getThenSet(ObjectId target) throws StorageException, RefusedException {
        List<ObjectId> targets = List.of(target);
        progress.begin(CommandFunction.COMMAND);
        if (requests.sets().isEmpty()) {
            querying(objects -> {
                StoredObject _ = found(objects, target);
                getAll(objects, targets);
            });
        } else if (requests.length().isEmpty()) {
            changing(objects -> {
                phases.check(found(objects, target).type(), false);
                getAll(objects, targets);
                setAll(objects, targets);
            });
        } else {
            querying(objects -> {
                phases.check(found(objects, target).type(), false);
                getAll(objects, targets);
            });
            resize(target);
            changing(objects -> setAll(objects, targets));
        }
        touchAttributes();
    }

    /** Performs the function in a query, then sets and gets attributes of the object that the command addresses. */
    void query(Query function) throws StorageException, RefusedException {
        querying(objects -> {
            progress.begin(CommandFunction.COMMAND);
            function.run(objects);
            progress.complete(CommandFunction.COMMAND);
            if (requests.sets().isEmpty()) {
                getAll(objects, List.of(command.object()));
            }
        });
        if (requests.sets().isEmpty()) {
            touchAttributes();
        } else {
            attributes(command.object());
        }
    }

    /** Begins a function that is performed on the data of an object. */
    void begin() {
        progress.begin(CommandFunction.COMMAND);
    }

    /** Ends the function of the command; sets and gets attributes of an object. */
    void attributes(ObjectId target) throws StorageException, RefusedException {
        progress.complete(CommandFunction.COMMAND);
        if (!requests.sets().isEmpty() || gets()) {
            setThenGet(target);
        }
    }

    /** Sets attributes of an object, then gets them: SET ATTRIBUTES, and after the function of other commands. */
    void setThenGet(ObjectId target) throws StorageException, RefusedException {
        List<ObjectId> targets = List.of(target);
        progress.begin(CommandFunction.COMMAND);
        if (requests.sets().isEmpty()) {
            querying(objects -> {
                StoredObject _ = found(objects, target);
                getAll(objects, targets);
            });
        } else {
            if (requests.length().isPresent()) {
                querying(objects -> phases.check(found(objects, target).type(), false));
                resize(target);
            }
            changing(objects -> {
                StoredObject _ = found(objects, target);
                setAll(objects, targets);
                getAll(objects, targets);
            });
        }
        touchAttributes();
    }

    /** Returns the object of a command that is about attributes alone: its function is to find the object. */
    private StoredObject found(ObjectReader objects, ObjectId target)
            throws StorageException, RefusedException {
        StoredObject found = Existing.any(objects, target);
        progress.completeLasting(CommandFunction.COMMAND);
        return found;
    }

    /** Ends the function of a command whose attributes are a part of it. */
    void complete() {
        progress.complete(CommandFunction.COMMAND);
        if (gets()) {
            progress.complete(CommandFunction.GET_ATTRIBUTES);
        }
        if (!requests.sets().isEmpty()) {
            progress.complete(CommandFunction.SET_ATTRIBUTES);
        }
    }

    // --- steps ---

    /**
     * Runs a step in a change; if it fails, the functions that it has completed are undone. A change during which the
     * command is aborted is undone as well: the step may have ended early.
     */
    void changing(Step<ObjectWriter> step) throws StorageException, RefusedException {
        Set<CommandFunction> before = progress.completed();
        boolean done = false;
        try {
            store().<Boolean, RefusedException>change(objects -> {
                step.run(objects);
                if (isAborted()) {
                    throw new AbortedException("the command was aborted");
                }
                return true;
            });
            done = true;
        } finally {
            if (!done) {
                progress.undo(before);
            }
            if (requests.setSettings()) {
                device.settings().clear();
            }
        }
    }

    /** Runs a step in a query. */
    void querying(Step<ObjectReader> step) throws StorageException, RefusedException {
        store().<Boolean, RefusedException>query(objects -> {
            step.run(objects);
            return true;
        });
    }

    /** A step of the work. */
    @FunctionalInterface
    interface Step<R extends ObjectReader> {
        void run(R objects) throws StorageException, RefusedException;
    }

    private void setAll(ObjectWriter objects, List<ObjectId> targets)
            throws StorageException, RefusedException {
        if (requests.sets().isEmpty()) {
            return;
        }
        progress.begin(CommandFunction.SET_ATTRIBUTES);
        for (ObjectId target : targets) {
            StoredObject object = Existing.any(objects, target);
            phases.check(object.type(), isFormat());
            phases.set(objects, object);
            if (!isBypassed()) {
                objects.setTime(target, Timestamp.ATTRIBUTES_MODIFIED, nowMs);
            }
        }
        progress.complete(CommandFunction.SET_ATTRIBUTES);
    }

    private boolean isFormat() { return command.action() == ServiceAction.FORMAT_OSD; }

    private void getAll(ObjectReader objects, List<ObjectId> targets)
            throws StorageException, RefusedException {
        if (!gets()) {
            return;
        }
        progress.begin(CommandFunction.GET_ATTRIBUTES);
        if (targets.size() == 1) {
            StoredObject object = Existing.any(objects, targets.getFirst());
            if (object.id().equals(current.object())) {
                current.object(object.type(), object.id());
            }
            phases.get(objects, object, in);
        } else {
            var found = new ArrayList<StoredObject>();
            for (ObjectId target : targets) {
                found.add(Existing.any(objects, target));
            }
            phases.get(objects, found, in);
        }
        progress.complete(CommandFunction.GET_ATTRIBUTES);
    }

    /** Sets the length of a user object that its logical length attribute is set to. */
    void resize(ObjectId object) throws StorageException, RefusedException {
        OptionalLong length = requests.length();
        if (length.isPresent()) {
            long before = store().length(object);
            try {
                store().resize(object, checkedLength(), device.settings().of(object));
            } catch (OutOfRangeException _) {
                throw refusedLength();
            }
            current.grown(length.getAsLong() - before);
            touch(object, EnumSet.of(Timestamp.DATA_MODIFIED));
        }
    }

    /** Returns the length that is set, which must be a signed number. */
    long checkedLength() throws RefusedException {
        long length = requests.length().orElse(0);
        if (length < 0) {
            throw refusedLength();
        }
        return length;
    }

    /** Returns the refusal of the length that is set. */
    RefusedException refusedLength() {
        return requests.lengthPlace().refuse(requests.lengthPlace().length());
    }

    // --- timestamps ---

    /** Whether timestamps are not updated. */
    boolean isBypassed() {
        return command.common().options().bypassTimestamps() || container.bypass();
    }

    /** Sets timestamps of an object to now, unless they are bypassed. */
    void touch(ObjectId object, Set<Timestamp> which) throws StorageException {
        if (!isBypassed()) {
            store().touch(object, which, nowMs);
        }
    }

    /** Sets when attributes of objects were accessed, which the command may have created, if they were. */
    private void touchAttributes(ObjectWriter objects, List<ObjectId> targets)
            throws StorageException {
        if (gets() && !isBypassed()) {
            for (ObjectId target : targets) {
                objects.setTime(target, Timestamp.ATTRIBUTES_ACCESSED, nowMs);
            }
        }
    }

    private void touchAttributes() throws StorageException {
        if (gets()) {
            touch(command.object(), EnumSet.of(Timestamp.ATTRIBUTES_ACCESSED));
        }
    }
}
