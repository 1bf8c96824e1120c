package lunar.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Finds free loopback ports for servers that need a fixed number, or that restart on the same port. The ports are below
 * Linux's ephemeral range, from which any connection of the machine could take a port while the server is down.
 */
public final class FreePorts {
    private static final int LOWEST = 16_384;
    private static final int TRIES = 200;
    private static final Path EPHEMERAL = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    /** Default start of the ephemeral range (RFC 6335 section 6), if the system does not report it. */
    private static final int FIRST_DYNAMIC = 49_152;

    private FreePorts() {}

    /** A port that nothing listens on. */
    public static int one() throws IOException {
        return several(1).getFirst();
    }

    /** Different ports that nothing listens on. */
    public static List<Integer> several(int count) throws IOException {
        int end = firstEphemeral();
        var held = new ArrayList<ServerSocket>();
        try {
            for (int tries = 0; held.size() < count; tries++) {
                try {
                    held.add(listen(ThreadLocalRandom.current().nextInt(LOWEST, end)));
                } catch (IOException e) {
                    if (tries >= TRIES) {
                        throw new IOException("no free port found from " + LOWEST + " to " + end,
                                e);
                    }
                }
            }
            return IntStream.range(0, count).mapToObj(i -> held.get(i).getLocalPort()).toList();
        } finally {
            for (ServerSocket socket : held) {
                socket.close();
            }
        }
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
    }

    private static int firstEphemeral() throws IOException {
        if (Files.isReadable(EPHEMERAL)) {
            try (var range = new Scanner(EPHEMERAL, StandardCharsets.US_ASCII)) {
                int first = range.nextInt();
                return first > LOWEST ? first : FIRST_DYNAMIC;
            }
        }
        return FIRST_DYNAMIC;
    }
}
