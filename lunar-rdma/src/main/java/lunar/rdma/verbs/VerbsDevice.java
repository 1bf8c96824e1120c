package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import lunar.rdma.DeviceInfo;
import lunar.rdma.ProviderException;
import lunar.rdma.spi.ProviderDevice;
import lunar.rdma.spi.ProviderDomain;

/**
 * A device of libibverbs.
 *
 * @param context address of its struct ibv_context, which librdmacm has opened
 */
record VerbsDevice(VerbsLibraries libraries, long context, DeviceInfo info)
        implements ProviderDevice {
    @Override
    public ProviderDomain open() throws ProviderException {
        return new VerbsDomain(libraries, context, info.name());
    }

    /** Returns the kernel's name of a context's device. */
    static String name(long context) {
        return struct(context).getString(ObjectLayouts.DEVICE_NAME);
    }

    /** Returns an {@code IBV_TRANSPORT} constant. */
    static int transport(long context) {
        return struct(context).get(JAVA_INT, ObjectLayouts.DEVICE_TRANSPORT_TYPE);
    }

    private static MemorySegment struct(long context) {
        long device = NativeLibrary.at(context, ObjectLayouts.CONTEXT.byteSize()).get(JAVA_LONG,
                ObjectLayouts.CONTEXT_DEVICE);
        return NativeLibrary.at(device, ObjectLayouts.DEVICE.byteSize());
    }
}
