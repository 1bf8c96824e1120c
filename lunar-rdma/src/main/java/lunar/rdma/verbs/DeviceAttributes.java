package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.List;
import lunar.rdma.Capability;
import lunar.rdma.DeviceInfo;
import lunar.rdma.DeviceLimits;
import lunar.rdma.ProviderException;

/** Describes a device by the attributes that libibverbs reports for it and for its first port. */
final class DeviceAttributes {
    /**
     * Private data that programs can use in messages of the InfiniBand connection manager (InfiniBand Architecture 12.6
     * and annex A11.2): REQ has 92 bytes, of which librdmacm uses 36, REP has 196, and REJ has 148.
     */
    private static final int CONNECT_DATA_BYTES = 56;
    private static final int ACCEPT_DATA_BYTES = 196;
    private static final int REJECT_DATA_BYTES = 148;

    private DeviceAttributes() {}

    static DeviceInfo describe(VerbsCalls verbs, long context, List<InetAddress> addresses)
            throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment device = query(verbs, context, arena);
            MemorySegment port = arena.allocate(AttributeLayouts.PORT);
            verbs.queryPort(context, 1, port.address());
            String name = name(context);
            return new DeviceInfo("verbs:" + name, description(context, name, port), addresses,
                    capabilities(device),
                    limits(device, port, InlineProbe.longest(verbs, context)));
        }
    }

    /** Returns a struct ibv_device_attr. */
    static MemorySegment query(VerbsCalls verbs, long context, Arena arena)
            throws ProviderException {
        MemorySegment device = arena.allocate(AttributeLayouts.DEVICE);
        verbs.queryDevice(context, device.address());
        return device;
    }

    private static String description(long context, String name, MemorySegment port) {
        boolean isIwarp = struct(context).get(JAVA_INT,
                ObjectLayouts.DEVICE_TRANSPORT_TYPE) == Constants.IBV_TRANSPORT_IWARP;
        boolean isEthernet = port.get(JAVA_BYTE,
                AttributeLayouts.PORT_LINK_LAYER) == Constants.IBV_LINK_LAYER_ETHERNET;
        String kind = isIwarp ? "iWARP" : isEthernet ? "RoCE" : "InfiniBand";
        boolean isActive = port.get(JAVA_INT,
                AttributeLayouts.PORT_STATE) == Constants.IBV_PORT_ACTIVE;
        return kind + " device " + name + (isActive ? "" : ", port 1 is down");
    }

    /** Returns the kernel's name of a context's device. */
    private static String name(long context) {
        return struct(context).getString(ObjectLayouts.DEVICE_NAME);
    }

    private static MemorySegment struct(long context) {
        long device = NativeLibrary.at(context, ObjectLayouts.CONTEXT.byteSize()).get(JAVA_LONG,
                ObjectLayouts.CONTEXT_DEVICE);
        return NativeLibrary.at(device, ObjectLayouts.DEVICE.byteSize());
    }

    private static EnumSet<Capability> capabilities(MemorySegment device) {
        EnumSet<Capability> capabilities = EnumSet.of(Capability.EVENT_DRIVEN);
        if (device.get(JAVA_INT, AttributeLayouts.DEVICE_MAX_SRQ_WR) > 0) {
            capabilities.add(Capability.SHARED_RECEIVE_QUEUE);
        }
        int flags = device.get(JAVA_INT, AttributeLayouts.DEVICE_CAP_FLAGS);
        if ((flags & Constants.IBV_DEVICE_MEM_MGT_EXTENSIONS) != 0) {
            capabilities.add(Capability.SEND_WITH_INVALIDATE);
        }
        return capabilities;
    }

    private static DeviceLimits limits(MemorySegment device, MemorySegment port, int inlineBytes) {
        int depth = device.get(JAVA_INT, AttributeLayouts.DEVICE_MAX_QP_WR);
        int segments = Math.min(device.get(JAVA_INT, AttributeLayouts.DEVICE_MAX_SGE),
                DeviceLimits.MAX_SEGMENTS);
        return new DeviceLimits(
                Integer.toUnsignedLong(port.get(JAVA_INT, AttributeLayouts.PORT_MAX_MSG_SZ)),
                inlineBytes, segments, depth, depth,
                device.get(JAVA_INT, AttributeLayouts.DEVICE_MAX_CQE), CONNECT_DATA_BYTES,
                ACCEPT_DATA_BYTES, REJECT_DATA_BYTES);
    }
}
