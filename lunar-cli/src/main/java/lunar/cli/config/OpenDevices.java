package lunar.cli.config;

import lunar.cli.command.Failure;

import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;

/** Holds the devices that a command has opened, and closes them in reverse order. */
public final class OpenDevices implements AutoCloseable {
    private static final String OBJECT_STORE = "osd:";

    private final List<BlockDevice> devices = new ArrayList<>();
    private final VolumeUris volumes;

    /** Devices of complete URIs, or volumes of the usual config file. */
    public OpenDevices() {
        this(VolumeUris.usual());
    }

    /** Devices that may be volumes of a config file. */
    public OpenDevices(VolumeUris volumes) {
        this.volumes = volumes;
    }

    /** Opens a device, which belongs to this from now on. */
    public BlockDevice open(String uri) throws StorageException, Failure {
        String bare = Devices.withoutFilters(uri);
        if (bare.regionMatches(true, 0, OBJECT_STORE, 0, OBJECT_STORE.length())) {
            throw new Failure(bare + " is an object store, not a block device: serve it with"
                    + " 'lunar serve " + bare + "', and use it by its iscsi: URI with 'lunar osd'");
        }
        BlockDevice device = volumes.open(uri);
        devices.add(device);
        return device;
    }

    /** Makes all that was written stable. */
    void flush() throws StorageException {
        for (BlockDevice device : devices) {
            if (!device.readOnly()) {
                device.flush();
            }
        }
    }

    /** Closes all, even when one fails; the first failure is thrown, with the others suppressed. */
    @Override
    public void close() throws StorageException {
        List<BlockDevice> open = List.copyOf(devices);
        devices.clear();
        close(open);
    }

    private static void close(List<BlockDevice> open) throws StorageException {
        if (!open.isEmpty()) {
            try (BlockDevice _ = open.getFirst()) {
                close(open.subList(1, open.size()));
            }
        }
    }
}
