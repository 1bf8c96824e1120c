package lunar.raid.service;

import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import lunar.block.BlockDevice;
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
        return RunningVolume.open(VolumeSpec.of(uri), Devices::open, hosts(), _ -> {});
    }

    /** Returns the hosts in this process that are told of volumes. */
    public static List<VolumeHost> hosts() {
        return ServiceLoader.load(VolumeHost.class, VolumeHost.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get).toList();
    }
}
