package lunar.server;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitSpec;
import lunar.scsi.target.block.DiskSpec;
import lunar.scsi.target.spi.UnitProvider;
import lunar.scsi.target.spi.UnitSource;

/** The storage behind a LUN of a plan: the blocks of a disk, or the source of a unit of another device type. */
sealed interface ServedSource {
    /** Modules of Lunar that have units other than disks, by scheme: named to a user whose program lacks one. */
    Map<String, String> MODULES = Map.of("osd", "lunar-osd-target");

    /** The blocks of a disk. */
    record Disk(BlockDevice device) implements ServedSource {
        @Override
        public UUID identity() { return device.identity().uuid(); }

        @Override
        public long sizeBytes() { return device.sizeBytes(); }

        @Override
        public Optional<Usage> usage() { return device.usage(); }

        @Override
        public UnitSpec spec(ServerPlan.Lun lun, StateStore state) {
            return new DiskSpec(device, lun.removable(), lun.rotational(), lun.readOnly(),
                    lun.thick(), state);
        }

        @Override
        public void close(Duration flushLimit) throws StorageException {
            if (device.readOnly()) {
                device.close();
            } else {
                LastFlush.close(device, flushLimit);
            }
        }
    }

    /** The source of a unit that is no disk. */
    record Other(UnitSource source) implements ServedSource {
        @Override
        public UUID identity() { return source.identity(); }

        @Override
        public long sizeBytes() { return source.sizeBytes(); }

        @Override
        public Optional<Usage> usage() { return source.usage(); }

        @Override
        public UnitSpec spec(ServerPlan.Lun lun, StateStore state) throws InvalidPlanException {
            if (lun.removable() || lun.rotational() || lun.readOnly() || lun.thick()) {
                throw new InvalidPlanException(lun + " is no disk: remove 'removable',"
                        + " 'rotational', 'read-only' and 'thick' of its LUN");
            }
            return source.spec(state);
        }

        @Override
        public void close(Duration flushLimit) throws StorageException { source.close(); }
    }

    /** The identity, by which the state of the unit is found. */
    UUID identity();

    /** The size in bytes now. */
    long sizeBytes();

    /** Returns how full it is; empty if unknown. */
    Optional<Usage> usage();

    /** Describes the unit as a plan wants it. */
    UnitSpec spec(ServerPlan.Lun lun, StateStore state) throws InvalidPlanException;

    /**
     * Makes everything stable, and closes it even if that fails or takes too long. Blocks.
     *
     * @param flushLimit for the flush of a disk
     */
    void close(Duration flushLimit) throws StorageException;

    /**
     * Opens a URI: of the scheme of another device type, or else of a block device.
     *
     * @param opener opens block devices
     * @throws IllegalArgumentException if the URI is malformed; one line for a person
     */
    static ServedSource open(String uri, DeviceOpener opener, DeviceRecords records)
            throws StorageException, InvalidPlanException {
        DeviceUri parsed = DeviceUri.parse(Devices.withoutFilters(uri));
        Devices.requireLock(uri);
        Optional<UnitProvider> provider = provider(uri, parsed);
        return provider.isPresent()
                ? new Other(provider.get().open(parsed, records))
                : new Disk(opener.open(uri, records));
    }

    /**
     * Checks a URI without opening it.
     *
     * @throws IllegalArgumentException if the URI is malformed; one line for a person
     */
    static void check(String uri) throws StorageException, InvalidPlanException {
        DeviceUri parsed = DeviceUri.parse(Devices.withoutFilters(uri));
        Devices.requireLock(uri);
        Optional<UnitProvider> provider = provider(uri, parsed);
        if (provider.isPresent()) {
            provider.get().check(parsed);
        } else {
            Devices.check(uri);
        }
    }

    private static Optional<UnitProvider> provider(String uri, DeviceUri parsed)
            throws InvalidPlanException {
        String bare = Devices.withoutFilters(uri);
        for (UnitProvider provider : ServiceLoader.load(UnitProvider.class,
                UnitProvider.class.getClassLoader())) {
            if (provider.schemes().contains(parsed.scheme())) {
                if (bare.length() < uri.length()) {
                    throw new InvalidPlanException(parsed + " is no block device, and can have no"
                            + " filters; remove '" + uri.substring(0, uri.length() - bare.length())
                            + "'");
                }
                return Optional.of(provider);
            }
        }
        String artifact = MODULES.get(parsed.scheme());
        if (artifact != null) {
            throw new InvalidPlanException("no unit of scheme '" + parsed.scheme()
                    + ":': org.lunar:" + artifact + " is missing at run time; add it to the"
                    + " dependencies, and on the module path start Java with --add-modules "
                    + artifact.replace('-', '.'));
        }
        return Optional.empty();
    }
}
