package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Peers of a TLS portal that try to hold a loop or its memory, and some that are only odd. */
class TlsHostileTest {
    private static final int TIMEOUT_MS = 60_000;

    /** A warning that the JDK's engine accepts at any time: user_canceled (RFC 8446 section 6.1). */
    private static final byte[] WARNING = {21, 3, 3, 0, 2, 1, 90};

    @TempDir
    Path directory;
    private TestCertificates certificates;

    @BeforeEach
    void writeFiles() { certificates = TestCertificates.in(directory); }

    private Network network() {
        return new Network(1, Network.LONG, transport -> new Endpoint(transport, Endpoint::echo),
                certificates);
    }

    private static Socket plain(Network network) throws IOException {
        var socket = new Socket(network.portal().getAddress(), network.portal().getPort());
        socket.setSoTimeout(TIMEOUT_MS);
        return socket;
    }

    private SSLSocket handshake(Socket plain) throws IOException {
        SSLSocket peer = TlsPeer.of(certificates).over(plain);
        peer.setSoTimeout(TIMEOUT_MS);
        peer.startHandshake();
        return peer;
    }

    @Test
    void shouldEndAHandshakeOfManyRecords() throws Exception {
        try (var network = network(); Socket peer = plain(network)) {
            Endpoint end = network.accepted();
            try {
                OutputStream out = peer.getOutputStream();
                for (int i = 0; i < 10_000; i++) {
                    out.write(WARNING);
                }
            } catch (IOException _) {
                // it has been ended
            }
            end.awaitClosed();
            assertThat(end.cause).hasMessageContaining("too many records");
        }
    }

    /** A call reads a limited number of records, and what is left must not be forgotten. */
    @Test
    void shouldReceivePdusOfWhichEachByteIsARecord() throws Exception {
        int dataBytes = 1000;
        try (var network = network(); SSLSocket peer = handshake(plain(network))) {
            OutputStream out = peer.getOutputStream();
            for (int tag = 1; tag <= 3; tag++) {
                byte[] pdu = new byte[48 + dataBytes];
                System.arraycopy(Endpoint.header(tag, dataBytes).toArray(ValueLayout.JAVA_BYTE), 0,
                        pdu, 0, 48);
                for (byte each : pdu) {
                    out.write(each);
                }
            }
            Endpoint end = network.accepted();
            for (int tag = 1; tag <= 3; tag++) {
                assertThat(end.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(tag);
            }
        }
    }

    @Test
    void shouldTellAPeerWhyItsRecordIsRefused() throws Exception {
        try (var network = network(); Socket plain = plain(network)) {
            SSLSocket peer = handshake(plain);
            peer.getOutputStream().write(Endpoint.header(1, 0).toArray(ValueLayout.JAVA_BYTE));
            Endpoint end = network.accepted();
            assertThat(end.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(1);
            byte[] forged = new byte[5 + 40];
            System.arraycopy(new byte[]{23, 3, 3, 0, 40}, 0, forged, 0, 5);
            plain.getOutputStream().write(forged);
            end.awaitClosed();
            assertThat(end.cause).hasMessageContaining("TLS with ");
            assertThatExceptionOfType(SSLException.class)
                    .isThrownBy(() -> peer.getInputStream().readNBytes(1000))
                    .withMessageContaining("bad_record_mac");
        }
    }

    @Test
    void shouldKeepNoMemoryForInputAfterItsEnd() throws Exception {
        try (var network = network(); SSLSocket peer = handshake(plain(network))) {
            peer.getOutputStream().write(Endpoint.header(1, 0).toArray(ValueLayout.JAVA_BYTE));
            Endpoint end = network.accepted();
            assertThat(end.tags.poll(60, TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(network.loops.tlsBuffersInUse()).isEqualTo(3);
            var left = new CompletableFuture<Integer>();
            end.transport.loop().execute(() -> {
                end.transport.close();
                left.complete(network.loops.tlsBuffersInUse());
            });
            assertThat(left.get(60, TimeUnit.SECONDS)).isLessThanOrEqualTo(1);
        }
    }
}
