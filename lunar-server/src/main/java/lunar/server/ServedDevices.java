package lunar.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.scsi.target.StateStore;

/**
 * The open devices of a running server. Each device is opened once, even if it has several LUNs, and stays open across
 * plans that contain it. A device that the plan no longer contains is flushed and closed after its commands have ended;
 * until then, no other device with its identity is served. Confined to one thread at a time.
 */
final class ServedDevices implements AutoCloseable {
    /**
     * A device that is to grow.
     *
     * @param from the device as the plan before had it
     * @param bytes its new size
     */
    private record Growth(Open from, long bytes) {}

    /**
     * A device that is open.
     *
     * @param state where the state of its unit is kept
     */
    record Open(DeviceKey key, String uri, ServedSource source, StateStore state) {
        /** Its URI for people. */
        String name() { return DeviceUri.withoutSecret(uri); }
    }

    private final StateRecords records;
    private final ServerListener listener;
    private Map<DeviceKey, Open> devices = new LinkedHashMap<>();
    private final ClosingLimits limits;
    private final ClosingDevices closing;

    /**
     * @param states directory of the state of all units; it follows a device to another LUN, by its identity
     * @throws IOException if the directory cannot be made
     */
    ServedDevices(Optional<Path> states, ServerListener listener, ClosingLimits limits)
            throws IOException {
        records = new StateRecords(states, listener);
        this.listener = listener;
        this.limits = limits;
        closing = new ClosingDevices(listener, limits);
    }

    /**
     * Begins to open the devices of a plan; ends with {@link Round#keep} or {@link Round#cancel}.
     *
     * @param opener opens devices that are not open yet
     */
    Round round(DeviceOpener opener) { return new Round(opener); }

    /** Devices of a plan, by LUN. New ones are open; otherwise nothing has changed. */
    final class Round {
        private final Map<DeviceKey, Open> named = new LinkedHashMap<>();
        private final List<Open> fresh = new ArrayList<>();
        private final Map<Open, Growth> growing = new HashMap<>();
        private final DeviceOpener opener;

        private Round(DeviceOpener opener) { this.opener = opener; }

        /** The device of a LUN. */
        Open device(String iqn, int lun, String uri) throws IOException, InvalidPlanException {
            try {
                return device(DeviceKey.of(iqn, lun, uri), uri);
            } catch (IllegalArgumentException e) { // no device has this URI
                throw InvalidPlanException.of(e);
            }
        }

        private Open device(DeviceKey key, String uri) throws IOException, InvalidPlanException {
            Open open = named.get(key.withoutSize());
            if (open == null) {
                Open known = devices.get(key.withoutSize());
                open = known == null ? opened(key, uri) : resized(known, key, uri);
                requireAlone(open);
                if (known == null) {
                    requireClosed(open);
                }
                named.put(key.withoutSize(), open);
            } else if (!open.key().equals(key) && open.key().sizeBytes().isPresent()
                    && key.sizeBytes().isPresent()) {
                throw new InvalidPlanException(
                        open.name() + " is configured with two sizes; specify one");
            }
            return open;
        }

        private Open opened(DeviceKey key, String uri) throws IOException, InvalidPlanException {
            awaitClosed(key);
            ServedSource source;
            try {
                source = ServedSource.open(uri, opener, records);
            } catch (BusyException e) {
                String bare = Devices.withoutFilters(uri).replaceFirst("\\?.*", "");
                if (devices.keySet().stream().anyMatch(other -> other.uri().contains(bare))) {
                    throw new InvalidPlanException(DeviceUri.withoutSecret(uri)
                            + " is already served with other"
                            + " filters or options; remove it in one reload and add it again in"
                            + " the next", e);
                }
                throw e;
            }
            boolean kept = false;
            try {
                Open open = new Open(key, uri, source, records.unit(source.identity()));
                fresh.add(open);
                kept = true;
                return open;
            } finally {
                if (!kept) {
                    source.close(limits.flush());
                }
            }
        }

        /** Two units with one identity are one disk to a host, which would mix their data. */
        private void requireAlone(Open open) throws InvalidPlanException {
            UUID uuid = open.source().identity();
            Optional<Open> other = named.values().stream()
                    .filter(one -> one.source().identity().equals(uuid)).findFirst();
            if (other.isPresent()) {
                throw new InvalidPlanException(open.name() + " has the identity " + uuid
                        + ", with which "
                        + other.get().name() + " is already served: if they are one disk, serve it"
                        + " by one URI; if one is a copy, give it its own identity");
            }
        }

        /**
         * A device that is removed by this plan or was removed before may have a write in flight, which would overwrite
         * what hosts write to a new one of the same disk.
         */
        private void requireClosed(Open fresh) throws InvalidPlanException {
            UUID uuid = fresh.source().identity();
            String what = fresh.name() + " has the identity " + uuid + " of ";
            Optional<Open> served = devices.values().stream()
                    .filter(one -> one.source().identity().equals(uuid)).findFirst();
            if (served.isPresent()) {
                throw new InvalidPlanException(what + served.get().name() + ", which is served now:"
                        + " remove that in one reload and add this in the next; if one is a copy,"
                        + " give it its own identity");
            }
            Optional<ClosingDevices.Closing> former = closing.awaitClosed(
                    one -> one.identity().equals(uuid));
            if (former.isPresent()) {
                throw new InvalidPlanException(what + former.get().open().name() + ", which was"
                        + " removed and is still being flushed; try again when it is closed");
            }
        }

        /**
         * Resizes a device if its requested size has changed; an unchanged size is ignored, because others may have
         * resized the device since.
         */
        private Open resized(Open known, DeviceKey key, String uri) throws InvalidPlanException {
            if (key.equals(known.key()) || key.sizeBytes().isEmpty()) {
                return known;
            }
            if (!(known.source() instanceof ServedSource.Disk disk)) {
                return known;
            }
            look(known, disk);
            long wanted = key.sizeBytes().get();
            long now = disk.sizeBytes();
            if (wanted < now) {
                throw new InvalidPlanException(known.name() + " has " + Size.format(now)
                        + ", more than "
                        + Size.format(wanted) + "; it cannot be shrunk while it is served");
            }
            var open = new Open(key, uri, disk, known.state());
            if (wanted > now) {
                growing.put(open, new Growth(known, wanted));
            }
            return open;
        }

        private static void look(Open open, ServedSource.Disk disk) {
            try {
                disk.device().refresh();
            } catch (StorageException e) {
                System.getLogger("lunar.server").log(System.Logger.Level.DEBUG, open.name(), e);
            }
        }

        /** Cancels the plan: closes newly opened devices. */
        void cancel() {
            fresh.forEach(ServedDevices.this::closeQuietly);
        }

        /**
         * Completes the change to the plan: grows devices as configured, and closes those that it does not contain.
         *
         * @param ended completes when no command uses them any longer
         * @return those that it closes
         */
        List<ClosingDevices.Closing> keep(CompletableFuture<Void> ended) {
            growing.forEach((open, growth) -> {
                if (!grow(open, growth.bytes())) {
                    named.put(growth.from().key().withoutSize(), growth.from()); // the next plan tries again
                }
            });
            Map<DeviceKey, Open> before = devices;
            devices = named;
            var removed = new ArrayList<ClosingDevices.Closing>();
            before.forEach((key, open) -> {
                if (!named.containsKey(key)) {
                    removed.add(closing.remove(open, ended));
                }
            });
            return removed;
        }
    }

    /** Grows a device. Returns false if it cannot grow, of which the listener has been told. */
    private boolean grow(Open open, long bytes) {
        try {
            if (open.source() instanceof ServedSource.Disk(BlockDevice device)) {
                device.grow(bytes / device.blockSize());
            }
            return true;
        } catch (StorageException e) {
            listener.warned(open.name() + " cannot be resized", e);
            return false;
        }
    }

    private void closeQuietly(Open open) {
        try {
            open.source().close(limits.flush());
        } catch (StorageException e) {
            listener.warned(open.name(), e);
        }
    }

    /** Waits for the close of a device that was removed, and is wanted again. */
    private void awaitClosed(DeviceKey key) throws InvalidPlanException {
        if (closing.awaitClosed(one -> one.isOf(key)).isPresent()) {
            throw new InvalidPlanException(DeviceUri.withoutSecret(key.uri())
                    + " still has commands of its former LUN, or is being flushed; try again when"
                    + " they have ended");
        }
    }

    /** Waits for a short time until devices that a plan has removed are closed, and warns of those that are not. */
    void warnOf(List<ClosingDevices.Closing> removed) {
        closing.warnOf(removed);
    }

    /**
     * Makes all stable and closes it, even when one fails. The state directory is unlocked when all are closed, also
     * those that do not end in time: until then they have connections.
     *
     * @throws StorageException the first failure, also of a device that was removed before
     */
    @Override
    public void close() throws StorageException {
        List<Open> open = List.copyOf(devices.values());
        devices.clear();
        closing.stop(open, this::unlock);
    }

    private void unlock() {
        try {
            records.close();
        } catch (IOException e) {
            listener.warned("the state directory cannot be unlocked", e);
        }
    }
}
