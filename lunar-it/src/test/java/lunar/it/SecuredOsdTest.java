package lunar.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.osd.client.AccessDeniedException;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdConnection;
import lunar.osd.client.OsdOptions;
import lunar.osd.client.Partition;
import lunar.osd.client.UserObject;
import lunar.osd.client.security.CredentialIssuer;
import lunar.osd.client.security.CredentialSet;
import lunar.osd.client.security.CredentialSource;
import lunar.osd.client.security.Grant;
import lunar.osd.client.security.NoCredentialException;
import lunar.osd.security.Credential;
import lunar.osd.security.KeyText;
import lunar.osd.security.SecretKey;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.OsdSecurity;
import lunar.osd.target.OsdSpec;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Credentials between hosts: a holder of the keys, and a host that has nothing but what it was given. */
class SecuredOsdTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:objects";
    private static final SecretKey MASTER = SecretKey.of(Bytes.ofHex("3d".repeat(40)));
    private static final SecurityMethod METHOD = SecurityMethod.CMDRSP;

    private final ObjectStore store = ObjectStores.inMemory();
    private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:osd-client");
    private final CredentialIssuer issuer = new CredentialIssuer(MASTER, METHOD);
    private TargetServer server;
    private Osd holder;
    private UserObject object;

    @BeforeEach
    void serve() throws Exception {
        server = start(OsdSpec.of(store).withSecurity(OsdSecurity.of(METHOD, MASTER)));
        holder = open(issuer);
        object = holder.createPartition().createAndWrite(text("secret"));
    }

    private static TargetServer start(OsdSpec spec) throws IOException { return start(0, spec); }

    private static TargetServer start(int port, OsdSpec spec) throws IOException {
        return TargetServer.builder().portal("127.0.0.1", port)
                .target(TargetSpec.of(TARGET).withLun(0, spec)).start();
    }

    private Osd open(CredentialSource source) throws IOException {
        return open(OsdOptions.DEFAULT.withCredentials(source));
    }

    private Osd open(OsdOptions options) throws IOException {
        Session session = initiator.login(SessionOptions.of("127.0.0.1",
                server.portals().getFirst().getPort(), TARGET));
        return Osd.open(session, Lun.ZERO, options);
    }

    @AfterEach
    void stop() throws Exception {
        initiator.close();
        server.close();
        store.close();
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(UTF_8));
    }

    private static String read(UserObject from) throws IOException {
        try (InputStream in = from.openInput()) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    private UserObject as(Credential credential) throws IOException {
        return open(new CredentialSet(List.of(credential))).partition(object.id().partition())
                .object(object.id().object());
    }

    @Test
    void shouldDenyAccessWithoutCredentials() throws Exception {
        Osd stranger = open(OsdOptions.DEFAULT);
        assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(stranger::info);
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> read(stranger.partition(object.id().partition())
                        .object(object.id().object())));
        var wrong = new CredentialIssuer(SecretKey.of(Bytes.ofHex("3e".repeat(40))), METHOD);
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> open(wrong).createPartition());
        assertThat(holder.partitions().count()).isEqualTo(1);
    }

    @Test
    void shouldHandOutWhatACredentialAllows() throws Exception {
        Credential given = issuer.issue(holder.secured(),
                Grant.of(object.id(), Permission.READ));
        String file = KeyText.of(List.of(given));
        UserObject other = as(KeyText.credentials(file.lines().toList()).getFirst());
        MemorySegment buffer = MemorySegment.ofArray(new byte[6]);
        assertThat(other.read(0, buffer)).isEqualTo(6);
        assertThat(buffer.mismatch(text("secret"))).isEqualTo(-1);
        assertThatExceptionOfType(NoCredentialException.class)
                .isThrownBy(() -> other.write(0, text("x")));

        Capability more = given.capability();
        var forged = new Capability(more.format(), more.keyVersion(), more.integrityAlgorithm(),
                more.securityMethod(), more.expirationMs(), more.audit(), more.discriminator(),
                more.objectCreatedMs(), more.objectType(),
                EnumSet.of(Permission.READ, Permission.WRITE), more.object());
        UserObject thief = as(new Credential(given.version(), forged, given.systemId(),
                given.capabilityKey()));
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> thief.write(0, text("x")));
        assertThat(read(object)).isEqualTo("secret");
    }

    @Test
    void shouldHandOutAWholePartition() throws Exception {
        long partition = object.id().partition();
        Credential objects = issuer.issue(holder.secured(), Grant.ofAllObjects(partition,
                Permission.READ, Permission.GET_ATTRIBUTES, Permission.CREATE, Permission.WRITE));
        Credential list = issuer.issue(holder.secured(),
                Grant.ofPartition(partition, Permission.READ));
        Partition given = open(new CredentialSet(List.of(list, objects))).partition(partition);
        UserObject created = given.create();
        created.write(0, text("theirs"));
        assertThat(given.objects().map(UserObject::id)).containsExactly(object.id(), created.id());
        assertThat(read(created)).isEqualTo("theirs");
    }

    @Test
    void shouldEndWithItsTime() throws Exception {
        UserObject late = as(issuer.issue(holder.secured(),
                Grant.of(object.id(), Permission.READ)
                        .until(Instant.now().minus(Duration.ofSeconds(1)))));
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> late.read(0, MemorySegment.ofArray(new byte[1])));
    }

    @Test
    void shouldRevokeByAnotherKey() throws Exception {
        long partition = object.id().partition();
        UserObject first = as(issuer.issue(holder.secured(),
                Grant.of(object.id(), Permission.READ)));
        UserObject second = as(issuer.issue(holder.secured(),
                Grant.of(object.id(), Permission.READ).signedBy(1)));
        MemorySegment buffer = MemorySegment.ofArray(new byte[6]);
        assertThat(first.read(0, buffer)).isEqualTo(6);

        Bytes id = CredentialIssuer.newKeyId();
        holder.setKey(KeyLevel.WORKING, partition, 0, id,
                issuer.seed(KeyLevel.WORKING, partition, 0, id));
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> first.read(0, buffer));
        assertThat(second.read(0, buffer)).isEqualTo(6);
        assertThat(read(object)).isEqualTo("secret"); // the holder asks for the new key

        holder.setKey(KeyLevel.PARTITION, partition, 0, id,
                issuer.seed(KeyLevel.PARTITION, partition, 0, id));
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> second.read(0, buffer));
        assertThat(read(object)).isEqualTo("secret");

        holder.setKey(KeyLevel.ROOT, 0, 0, id, issuer.seed(KeyLevel.ROOT, 0, 0, id));
        Osd again = open(issuer.withRootKey(id));
        assertThat(read(again.partition(partition).object(object.id().object())))
                .isEqualTo("secret");
    }

    @Test
    void shouldGoOnAfterTheDeviceWasStartedAgain() throws Exception {
        server.close();
        server = start(OsdSpec.of(store).withSecurity(OsdSecurity.of(METHOD, MASTER)));
        Osd again = open(issuer);
        assertThat(read(again.partition(object.id().partition()).object(object.id().object())))
                .isEqualTo("secret");
    }

    /** Another session has another security token, and the device other nonces. */
    @Test
    void shouldLogInAgainWithAnotherToken() throws Exception {
        for (SecurityMethod method : List.of(SecurityMethod.CAPKEY, SecurityMethod.CMDRSP)) {
            OsdSpec spec = OsdSpec.of(store)
                    .withSecurity(OsdSecurity.of(SecurityMethod.CAPKEY, MASTER));
            server.close();
            int port = FreePorts.one();
            server = start(port, spec);
            try (var connection = OsdConnection.open(
                    "iscsi://127.0.0.1:" + port + "/" + TARGET + "/0",
                    OsdOptions.DEFAULT.withCredentials(new CredentialIssuer(MASTER, method)))) {
                UserObject same = connection.osd().partition(object.id().partition())
                        .object(object.id().object());
                assertThat(read(same)).isEqualTo("secret");
                server.close();
                server = start(port, spec);
                assertThat(readAgain(same)).isEqualTo("secret");
            }
        }
    }

    /** The first command after the end of a session may fail with it. */
    private static String readAgain(UserObject from) throws IOException {
        try {
            return read(from);
        } catch (StorageException _) {
            return read(from);
        }
    }

    @Test
    void shouldTellThatADeviceHasNoSecurity() throws Exception {
        server.close();
        server = start(OsdSpec.of(store));
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> open(issuer).createPartition())
                .withMessageContaining("has no security");
    }
}
