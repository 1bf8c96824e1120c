package lunar.rdma.libfabric;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import lunar.rdma.Capability;
import lunar.rdma.DeviceInfo;
import lunar.rdma.DeviceLimits;
import lunar.rdma.ProviderException;
import lunar.rdma.RdmaException;
import lunar.rdma.RdmaUnavailableException;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderDomain;

/**
 * Endpoints of type FI_EP_MSG of the provider "tcp": libfabric manages their connections. They reach whatever TCP
 * reaches, so that all interfaces of the machine are one device.
 */
record MsgDevice(DeviceInfo info) implements ProviderDevice {
    /** Operations in either direction of an endpoint. The provider's limit, unless FI_TCP_TX_SIZE changes it. */
    private static final int DEPTH = 256;
    /** The provider has room for more completions; memory is the limit. */
    private static final int MAX_COMPLETIONS = 1 << 16;
    /** Private data that the provider carries with a connect, accept or reject. */
    private static final int PRIVATE_DATA_BYTES = 256;
    private static final long MAX_MESSAGE_BYTES = 1L << 30;

    static final FabricInfo.Kind KIND = new FabricInfo.Kind("tcp", Numbers.FI_EP_MSG,
            Numbers.FI_MR_LOCAL | Numbers.FI_MR_VIRT_ADDR | Numbers.FI_MR_ALLOCATED, DEPTH);

    static Optional<ProviderDevice> find() throws ProviderException, RdmaUnavailableException {
        Optional<FabricInfo> found = FabricInfo.query(KIND, false, null, true);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        try (FabricInfo inet = found.get()) {
            Set<InetAddress> addresses = addresses(inet);
            Optional<FabricInfo> inet6 = FabricInfo.query(KIND, true, null, true);
            if (inet6.isPresent()) {
                try (FabricInfo more = inet6.get()) {
                    addresses.addAll(addresses(more));
                }
            }
            var limits = new DeviceLimits(
                    Math.min(MAX_MESSAGE_BYTES, unsigned(
                            inet.word("ep_attr", Layouts.EP_ATTR, "max_msg_size"))),
                    (int) inet.word("tx_attr", Layouts.TX_ATTR, "inject_size"),
                    (int) Math.min(DeviceLimits.MAX_SEGMENTS, Math.min(
                            inet.word("tx_attr", Layouts.TX_ATTR, "iov_limit"),
                            inet.word("rx_attr", Layouts.RX_ATTR, "iov_limit"))),
                    (int) inet.word("tx_attr", Layouts.TX_ATTR, "size"),
                    (int) inet.word("rx_attr", Layouts.RX_ATTR, "size"), MAX_COMPLETIONS,
                    PRIVATE_DATA_BYTES, PRIVATE_DATA_BYTES, PRIVATE_DATA_BYTES);
            int version = Library.get().version();
            return Optional.of(new MsgDevice(new DeviceInfo("libfabric:tcp",
                    "RDMA in software over TCP, libfabric " + (version >>> 16) + "."
                            + (version & 0xFFFF),
                    new ArrayList<>(addresses), Set.of(Capability.EVENT_DRIVEN), limits)));
        }
    }

    private static long unsigned(long size) { return size < 0 ? Long.MAX_VALUE : size; }

    private static Set<InetAddress> addresses(FabricInfo infos) {
        var addresses = new LinkedHashSet<InetAddress>();
        for (FabricInfo one : infos.list()) {
            one.source().ifPresent(source -> addresses.add(source.getAddress()));
        }
        return addresses;
    }

    @Override
    public ProviderDomain open() throws RdmaException {
        FabricInfo info = FabricInfo.query(KIND, false, null, true).orElseThrow(
                () -> new RdmaUnavailableException("libfabric has no tcp provider any more"));
        return new FabricDomain(info, MsgChannel::new);
    }
}
