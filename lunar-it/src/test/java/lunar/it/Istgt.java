package lunar.it;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.testkit.FreePorts;

/** An istgt process on free ports. LUN 0 of each of its targets is the same file. */
final class Istgt implements AutoCloseable {
    private static final String NAME = "iqn.2026-11.org.lunar";
    private static final int TRIES = 4_000;

    private final Process process;
    private final List<Integer> ports;
    private final Path folder;

    private Istgt(Process process, List<Integer> ports, Path folder) {
        this.process = process;
        this.ports = ports;
        this.folder = folder;
    }

    /** Starts one with a disk of so many MiB, or skips the test where there is none to start. */
    static Istgt start(Path folder, int sizeMiB) throws IOException, InterruptedException {
        Peer.assume("istgt");
        var ports = FreePorts.several(2);
        Path disk = folder.resolve("disk.img");
        try (var image = new RandomAccessFile(disk.toFile(), "rw")) {
            image.setLength((long) sizeMiB << 20);
        }
        Files.createFile(folder.resolve("auth.conf"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Path config = Files.writeString(folder.resolve("istgt.conf"), """
                [Global]
                  NodeBase "%s"
                  PidFile %s/istgt.pid
                  AuthFile %s/auth.conf
                  MediaDirectory %s
                  LogFacility "local7"
                  Timeout 30
                  NopInInterval 20
                  DiscoveryAuthMethod Auto
                  MaxSessions 16
                  MaxConnections 4
                  MaxR2T 32
                  MaxOutstandingR2T 16
                  DefaultTime2Wait 2
                  DefaultTime2Retain 60
                  FirstBurstLength 262144
                  MaxBurstLength 1048576
                  MaxRecvDataSegmentLength 262144
                  InitialR2T Yes
                  ImmediateData Yes
                  DataPDUInOrder Yes
                  DataSequenceInOrder Yes
                  ErrorRecoveryLevel 0
                [UnitControl]
                  AuthMethod None
                  AuthGroup None
                [PortalGroup1]
                  Portal DA1 127.0.0.1:%d
                  Portal DA2 127.0.0.1:%d
                [InitiatorGroup1]
                  InitiatorName "ALL"
                  Netmask 127.0.0.1
                [LogicalUnit1]
                  TargetName disk
                  Mapping PortalGroup1 InitiatorGroup1
                  AuthMethod None
                  UseDigest Auto
                  UnitType Disk
                  LUN0 Storage %s %dMB
                """.formatted(NAME, folder, folder, folder, ports.get(0), ports.get(1), disk,
                sizeMiB));
        var process = new ProcessBuilder(program(), "-D", "-c", config.toString())
                .redirectErrorStream(true).redirectOutput(folder.resolve("istgt.log").toFile())
                .start();
        var istgt = new Istgt(process, ports, folder);
        try {
            istgt.awaitReady();
            return istgt;
        } catch (IOException | InterruptedException | RuntimeException e) {
            istgt.close();
            throw e;
        }
    }

    /** Which is not on everybody's path. */
    private static String program() {
        Path usual = Path.of("/usr/sbin/istgt");
        return Files.isExecutable(usual) ? usual.toString() : "istgt";
    }

    private void awaitReady() throws IOException, InterruptedException {
        for (int i = 0; i < TRIES && process.isAlive(); i++) {
            try (var socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", ports.getLast()));
                return;
            } catch (IOException _) {
                process.waitFor(25, TimeUnit.MILLISECONDS); // not yet
            }
        }
        throw new IOException("istgt does not start: "
                + Files.readString(folder.resolve("istgt.log")));
    }

    /** Returns one of its two portals. */
    String portal(int index) {
        return "127.0.0.1:" + ports.get(index);
    }

    static String name() { return NAME + ":disk"; }

    String uri() { return "iscsi://" + portal(0) + "/" + name() + "/0"; }

    /** The file behind its LUN. */
    Path disk() { return folder.resolve("disk.img"); }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
