package lunar.raid.service;

import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.block.spi.DeviceProvider;

/** Opens {@code raid0:}, {@code raid1:}, {@code raid5:}, {@code raid6:}, {@code raid10:} and {@code linear:} URIs. */
public final class RaidProvider implements DeviceProvider {
    /** For the {@link ServiceLoader}. */
    public RaidProvider() {}

    @Override
    public Set<String> schemes() { return VolumeSpec.schemes(); }

    @Override
    public BlockDevice open(DeviceUri uri) throws StorageException {
        return open(uri, DeviceRecords.NONE);
    }

    /** {@inheritDoc} A volume has its identity in its superblocks; the records are for connections of its members. */
    @Override
    public BlockDevice open(DeviceUri uri, DeviceRecords records) throws StorageException {
        DeviceRecords ofMembers = records.ofMembers();
        return RunningVolume.open(VolumeSpec.of(uri), member -> Devices.open(member, ofMembers),
                hosts(), _ -> {});
    }

    @Override
    public void check(DeviceUri uri) throws StorageException {
        VolumeSpec spec = VolumeSpec.of(uri);
        for (String member : spec.members()) {
            Devices.check(member);
        }
        for (String spare : spec.spares()) {
            Devices.check(spare);
        }
        if (spec.journal().isPresent()) {
            Devices.check(spec.journal().get());
        }
    }

    /** Returns the hosts in this process that are told of volumes. */
    public static List<VolumeHost> hosts() {
        return ServiceLoader.load(VolumeHost.class, VolumeHost.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get).toList();
    }
}
