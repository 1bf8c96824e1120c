package lunar.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.LostWritesException;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdConnection;
import lunar.osd.client.UserObject;
import lunar.osd.s3.S3Options;
import lunar.osd.s3.S3Server;
import lunar.osd.s3.backend.OsdBackend;
import lunar.osd.target.OsdSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A device that loses power, and data that were not flushed, between two commands of a client. */
class OsdPowerLossTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:objects";
    private static final int PART = 8 << 20;
    private static final int BEFORE_LOSS = 5 << 20;
    /** All of that but the first command's, which creates the object: no command is in flight when the power fails. */
    private static final int WRITTEN = BEFORE_LOSS - (1 << 20);
    private static final Pattern UPLOAD_ID = Pattern.compile("<UploadId>(.*)</UploadId>");

    private final PowerLossStore store = new PowerLossStore();
    private TargetServer server;
    private OsdConnection connection;
    private S3Server s3;

    @BeforeEach
    void start() throws IOException {
        server = serve(FreePorts.one());
        connection = OsdConnection.open("iscsi://127.0.0.1:" + port() + "/" + TARGET + "/0");
        s3 = S3Server.start(new OsdBackend(connection.osd()), S3Options.DEFAULT
                .withAddress(new InetSocketAddress("127.0.0.1", 0)).withAnonymous(true));
    }

    @AfterEach
    void stop() throws IOException {
        s3.close();
        connection.close();
        server.close();
        store.store().close();
    }

    private TargetServer serve(int port) throws IOException {
        return TargetServer.builder().portal("127.0.0.1", port)
                .target(TargetSpec.of(TARGET).withLun(0, OsdSpec.of(store.store()))).start();
    }

    private int port() { return server.portals().getFirst().getPort(); }

    private void losePower() throws Exception {
        connection.osd().root().getPage(1); // whatever was sent before has been answered
        int port = port();
        server.close();
        assertThat(store.dropUnflushed()).as("bytes lost").isPositive();
        server = serve(port);
        ServedTarget.await("end of the session", () -> !connection.session().isOpen());
    }

    private static byte[] random(int seed) {
        var data = new byte[PART];
        new Random(seed).nextBytes(data);
        return data;
    }

    @FunctionalInterface
    private interface Event {
        void happen() throws Exception;
    }

    /** Sends a request, with an event in the middle of its body; returns the response. */
    private String send(String line, byte[] body, Event event) throws Exception {
        try (var socket = new Socket("127.0.0.1", s3.address().getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write((line + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + body.length
                    + "\r\nConnection: close\r\n\r\n").getBytes(ISO_8859_1));
            int first = Math.min(BEFORE_LOSS, body.length);
            out.write(body, 0, first);
            out.flush();
            event.happen();
            out.write(body, first, body.length - first);
            out.flush();
            return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
        }
    }

    private String send(String line, byte[] body) throws Exception {
        return send(line, body, () -> {});
    }

    /** Sends a request, and lets the power fail when the first part of its body has been written. */
    private String sendAndLosePower(String line, byte[] body) throws Exception {
        long before = store.writtenBytes();
        return send(line, body, () -> {
            ServedTarget.await("writes", () -> store.writtenBytes() - before >= WRITTEN);
            losePower();
        });
    }

    private static void assertStatus(String response, int status) {
        assertThat(response.substring(9, 12)).as(response.lines().findFirst().orElse(""))
                .isEqualTo(Integer.toString(status));
    }

    private void assertContent(String path, byte[]... parts) throws Exception {
        String response = send("GET " + path, new byte[0]);
        assertStatus(response, 200);
        byte[] body = response.substring(response.indexOf("\r\n\r\n") + 4).getBytes(ISO_8859_1);
        int at = 0;
        for (byte[] part : parts) {
            assertThat(Arrays.mismatch(part, 0, part.length, body, at, at + part.length))
                    .isEqualTo(-1);
            at += part.length;
        }
        assertThat(body).hasSize(at);
    }

    @Test
    void shouldNotAcknowledgeAnObjectWithAHole() throws Exception {
        assertStatus(send("PUT /bucket", new byte[0]), 200);
        byte[] data = random(1);
        assertStatus(sendAndLosePower("PUT /bucket/key", data), 503);
        assertStatus(send("HEAD /bucket/key", new byte[0]), 404);
        assertStatus(send("PUT /bucket/key", data), 200);
        assertContent("/bucket/key", data);
    }

    @Test
    void shouldNotCompleteAnUploadWithALostPart() throws Exception {
        assertStatus(send("PUT /bucket", new byte[0]), 200);
        Matcher id = UPLOAD_ID.matcher(send("POST /bucket/key?uploads", new byte[0]));
        assertThat(id.find()).isTrue();
        String part = "PUT /bucket/key?uploadId=" + id.group(1) + "&partNumber=";
        String first = send(part + 1, random(1));
        assertStatus(first, 200);
        assertStatus(sendAndLosePower(part + 2, random(2)), 503);
        String second = send(part + 2, random(2));
        assertStatus(second, 200);
        assertStatus(send("POST /bucket/key?uploadId=" + id.group(1),
                ("<CompleteMultipartUpload>" + named(1, first) + named(2, second)
                        + "</CompleteMultipartUpload>").getBytes(ISO_8859_1)),
                200);
        assertContent("/bucket/key", random(1), random(2));
    }

    private static String named(int number, String response) {
        Matcher etag = Pattern.compile("(?i)\r\netag: (.*)\r\n").matcher(response);
        assertThat(etag.find()).isTrue();
        return "<Part><PartNumber>" + number + "</PartNumber><ETag>" + etag.group(1)
                + "</ETag></Part>";
    }

    @Test
    void shouldTellTheClientOfTheLibrary() throws Exception {
        Osd osd = connection.osd();
        UserObject object = osd.createPartition().create();
        long before = osd.losses();
        object.write(0, MemorySegment.ofArray(random(1)));
        losePower();
        object.write(PART, MemorySegment.ofArray(random(2)));
        object.flush();
        assertThatThrownBy(() -> osd.requireNoLoss(before))
                .isInstanceOf(LostWritesException.class).hasMessageContaining(TARGET + "/0");

        long after = osd.losses();
        object.write(0, MemorySegment.ofArray(random(1)));
        object.flush();
        osd.requireNoLoss(after);
    }

    @Test
    void shouldNotTakeALostConnectionForALossOfData() throws Exception {
        try (var proxy = new CutProxy(port());
                var through = OsdConnection
                        .open("iscsi://127.0.0.1:" + proxy.port() + "/" + TARGET + "/0")) {
            Osd osd = through.osd();
            UserObject object = osd.createPartition().create();
            long before = osd.losses();
            object.write(0, MemorySegment.ofArray(random(1)));
            proxy.cut();
            ServedTarget.await("end of the session", () -> !through.session().isOpen());
            object.flush();
            osd.requireNoLoss(before);
        }
    }
}
