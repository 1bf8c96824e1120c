import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.Timeouts;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.scsi.Lun;

/** {@link Stalls} of Lunar's multipath: INITIATOR-NAME TARGET-NAME LUN KEEP-ALIVE-MS (0: default) PORT... */
final class LunarPaths {
    private LunarPaths() {}

    public static void main(String[] arguments) throws Exception {
        int keepAliveMs = Integer.parseInt(arguments[3]);
        Timeouts timeouts = keepAliveMs == 0
                ? Timeouts.DEFAULT
                : Timeouts.DEFAULT.withKeepAliveMs(keepAliveMs);
        List<SessionOptions> paths = Stream.of(arguments).skip(4).map(port -> SessionOptions
                .of("127.0.0.1", Integer.parseInt(port), arguments[1]).withTimeouts(timeouts))
                .toList();
        try (var initiator = Initiator.create(arguments[0]);
                var disk = MultipathDevice.open(initiator,
                        MultipathOptions.of(paths, Lun.of(Integer.parseInt(arguments[2]))))) {
            int blockBytes = disk.geometry().blockSize();
            Stalls.watch(() -> (offset, from) -> disk.write(offset / blockBytes,
                    MemorySegment.ofBuffer(from)));
        }
    }
}
