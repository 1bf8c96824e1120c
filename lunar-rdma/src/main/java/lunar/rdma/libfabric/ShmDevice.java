package lunar.rdma.libfabric;

import java.net.InetAddress;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lunar.rdma.Capability;
import lunar.rdma.DeviceInfo;
import lunar.rdma.DeviceLimits;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.posix.ProcessMemory;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderDomain;

/**
 * Device of libfabric's provider "shm", which connects processes of one machine. Its endpoints are of type FI_EP_RDM,
 * without connections; Lunar adds these, with a TCP connection over loopback for each.
 */
record ShmDevice(DeviceInfo info) implements ProviderDevice {
    /** Operations in either direction of an endpoint. */
    private static final int DEPTH = 256;
    private static final int MAX_COMPLETIONS = 1 << 16;
    private static final long MAX_MESSAGE_BYTES = 1L << 30;

    static final FabricInfo.Kind KIND = new FabricInfo.Kind("shm", Numbers.FI_EP_RDM,
            Numbers.FI_MR_LOCAL | Numbers.FI_MR_VIRT_ADDR | Numbers.FI_MR_ALLOCATED, DEPTH);

    static Optional<ProviderDevice> find() throws ProviderException, RdmaUnavailableException {
        if (!Files.isDirectory(ShmBoard.FOLDER) || !ProcessMemory.isAvailable()) {
            return Optional.empty();
        }
        Optional<FabricInfo> found = FabricInfo.query(KIND, false, null, true);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        try (FabricInfo info = found.get()) {
            var limits = new DeviceLimits(MAX_MESSAGE_BYTES,
                    (int) info.word("tx_attr", Layouts.TX_ATTR, "inject_size"),
                    (int) Math.min(DeviceLimits.MAX_SEGMENTS, Math.min(
                            info.word("tx_attr", Layouts.TX_ATTR, "iov_limit"),
                            info.word("rx_attr", Layouts.RX_ATTR, "iov_limit"))),
                    DEPTH, DEPTH, MAX_COMPLETIONS, ShmMessage.MAX_DATA_BYTES,
                    ShmMessage.MAX_DATA_BYTES, ShmMessage.MAX_DATA_BYTES);
            return Optional.of(new ShmDevice(new DeviceInfo("libfabric:shm",
                    "shared memory between processes of a user, libfabric "
                            + (Library.get().version() >>> 16) + "."
                            + (Library.get().version() & 0xFFFF),
                    List.of(InetAddress.getLoopbackAddress()),
                    Set.of(Capability.EVENT_DRIVEN, Capability.SAME_MACHINE_ONLY), limits)));
        }
    }

    @Override
    public ProviderDomain open() throws RdmaException {
        FabricInfo info = FabricInfo.query(KIND, false, null, true).orElseThrow(
                () -> new RdmaUnavailableException("libfabric no longer has the shm provider"));
        return new ShmDomain(info);
    }
}
