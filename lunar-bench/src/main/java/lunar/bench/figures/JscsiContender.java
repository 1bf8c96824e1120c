package lunar.bench.figures;

import lunar.bench.load.Lane;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Server;
import lunar.bench.harness.Stamps;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.commons.logging.LogFactory;
import org.apache.commons.logging.impl.LogFactoryImpl;
import org.apache.commons.logging.impl.NoOpLog;
import org.jscsi.exception.ConfigurationException;
import org.jscsi.exception.NoSuchSessionException;
import org.jscsi.exception.TaskExecutionException;
import org.jscsi.initiator.Configuration;
import org.jscsi.initiator.Initiator;

/**
 * jSCSI 2.2, with one session per thread: a session has a single thread, so threads sharing one would wait for each
 * other. It supports only LUN 0. Its sessions are configured in an XML file; each has its own initiator name, so that
 * the target does not treat one session as the reinstatement of another.
 */
final class JscsiContender implements Contender {
    private static final System.Logger LOG = System.getLogger("lunar.bench");

    /** It has no defaults of its own; of a setting that is missing here it dies. */
    private static final Map<String, String> SETTINGS = new TreeMap<>(Map.ofEntries(
            Map.entry("DataDigest", "None"),
            Map.entry("DataPDUInOrder", "Yes"), Map.entry("DataSequenceInOrder", "Yes"),
            Map.entry("DefaultTime2Retain", "20"), Map.entry("DefaultTime2Wait", "2"),
            Map.entry("ErrorRecoveryLevel", "0"), Map.entry("FirstBurstLength", "65536"),
            Map.entry("HeaderDigest", "None"), Map.entry("IFMarker", "No"),
            Map.entry("IFMarkInt", "2048"), Map.entry("ImmediateData", "Yes"),
            Map.entry("InitialR2T", "Yes"), Map.entry("InitiatorAlias", "bench"),
            Map.entry("InitiatorName", "iqn.2026-11.org.lunar:jscsi"),
            Map.entry("MaxBurstLength", "262144"), Map.entry("MaxConnections", "1"),
            Map.entry("MaxOutstandingR2T", "1"), Map.entry("MaxRecvDataSegmentLength", "8192"),
            Map.entry("OFMarker", "No"), Map.entry("OFMarkInt", "2048"),
            Map.entry("SessionType", "Normal")));

    private final Initiator initiator;
    private final InetSocketAddress portal;
    private final int blocks;
    private int opened;

    /**
     * @param port of the target, on loopback
     * @param sessions how many may be opened
     * @param folder for its files
     */
    JscsiContender(int port, String target, int blockBytes, int sessions, Path folder)
            throws BenchException {
        // Its jar requires log4j, and it logs every request.
        LogFactory.getFactory().setAttribute(LogFactoryImpl.LOG_PROPERTY,
                NoOpLog.class.getName());
        portal = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        blocks = Stamps.BYTES / blockBytes;
        try {
            Path schema = folder.resolve("jscsi.xsd");
            try (InputStream own = Initiator.class.getResourceAsStream("/jscsi.xsd")) {
                if (own == null) {
                    throw new BenchException("jSCSI: its schema is not in its jar");
                }
                Files.write(schema, own.readAllBytes());
            }
            Path config = folder.resolve("jscsi.xml");
            Files.writeString(config, configuration(port, target, sessions));
            initiator = new Initiator(
                    Configuration.create(schema.toFile(), config.toFile()));
        } catch (IOException | ConfigurationException e) {
            throw new BenchException("jSCSI: " + e.getMessage(), e);
        }
    }

    private static String configuration(int port, String target, int sessions) {
        var text = new StringBuilder("""
                <?xml version="1.0" encoding="UTF-8" ?>
                <configuration xmlns="http://www.jscsi.org/2006-09"
                    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                    xsi:schemaLocation="http://www.jscsi.org/2006-09 jscsi.xsd">
                  <global>
                """);
        SETTINGS.forEach((key, value) -> text
                .append("    <" + key + ">" + value + "</" + key + ">\n"));
        text.append("  </global>\n");
        for (int i = 0; i < sessions; i++) {
            text.append("""
                      <target id="%s" address="%s" port="%d">
                        <InitiatorName>iqn.2026-11.org.lunar:jscsi-%d</InitiatorName>
                        <TargetName>%s</TargetName>
                      </target>
                    """.formatted(session(i), Server.HOST, port, i, target));
        }
        return text.append("</configuration>\n").toString();
    }

    private static String session(int number) { return "session-" + number; }

    @Override
    public String label() { return "jSCSI 2.2"; }

    private String open() throws BenchException {
        String session = session(opened++);
        try {
            initiator.createSession(portal, session);
        } catch (RuntimeException e) { // it prints what went wrong, and stumbles over the missing session
            throw new BenchException("jSCSI cannot log in", e);
        }
        return session;
    }

    @Override
    public Lane blocking() throws BenchException { return queued(1); }

    /** Its own asynchronous calls; the session runs them one after the other. */
    @Override
    public Lane queued(int depth) throws BenchException {
        String session = open();
        var buffers = new ByteBuffer[depth];
        for (int i = 0; i < depth; i++) {
            buffers[i] = ByteBuffer.allocate(Stamps.BYTES);
        }
        return (write, places) -> {
            var flying = new ArrayDeque<Future<Void>>();
            for (int i = 0; i < places.length; i++) {
                if (i >= depth) {
                    land(flying.remove(), write, buffers[i % depth], places[i - depth]);
                }
                flying.add(launch(session, write, buffers[i % depth], places[i]));
            }
            for (int i = Math.max(0, places.length - depth); i < places.length; i++) {
                land(flying.remove(), write, buffers[i % depth], places[i]);
            }
        };
    }

    private Future<Void> launch(String session, boolean write, ByteBuffer buffer, int place)
            throws BenchException {
        buffer.clear();
        try {
            if (write) {
                Stamps.put(MemorySegment.ofBuffer(buffer), place);
                return initiator.multiThreadedWrite(session, buffer, place * blocks,
                        Stamps.BYTES);
            }
            return initiator.multiThreadedRead(session, buffer, place * blocks, Stamps.BYTES);
        } catch (NoSuchSessionException | TaskExecutionException e) {
            throw new BenchException("jSCSI: " + e, e);
        }
    }

    private static void land(Future<Void> flight, boolean write, ByteBuffer buffer, int place)
            throws BenchException {
        try {
            Void _ = flight.get();
        } catch (ExecutionException e) {
            throw new BenchException("jSCSI: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", e);
        }
        if (!write) {
            buffer.clear();
            Stamps.check(MemorySegment.ofBuffer(buffer), place);
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < opened; i++) {
            try {
                initiator.closeSession(session(i));
            } catch (NoSuchSessionException | TaskExecutionException e) {
                LOG.log(System.Logger.Level.DEBUG, "logout of jSCSI", e);
            }
        }
    }
}
