package lunar.osd.client;

import java.io.IOException;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;
import lunar.initiator.Session;
import lunar.iscsi.pdu.Isid;
import lunar.scsi.Lun;

/**
 * An object-based storage device with a session of its own, opened by its URI. Closing it logs out. Thread-safe.
 *
 * <p>If the session is lost, such as by a restart of the target, commands in flight fail, and the next command logs in
 * again; it fails if the LUN is another device then. {@link Osd#losses} tells whether the device may have lost what was
 * not flushed.
 *
 * {@snippet :
 * try (var connection = OsdConnection.open("iscsi://127.0.0.1/iqn.2026-11.org.lunar:disk/0")) {
 *     connection.osd().partitions().forEach(System.out::println);
 * }
 * }
 */
public final class OsdConnection implements AutoCloseable {
    private final Initiator initiator;
    private final ReconnectingLink link;
    private final Osd osd;

    private OsdConnection(Initiator initiator, ReconnectingLink link, Osd osd) {
        this.initiator = initiator;
        this.link = link;
        this.osd = osd;
    }

    /** Like {@link #open(String, OsdOptions)}, with default options. */
    public static OsdConnection open(String uri) throws IOException {
        return open(uri, OsdOptions.DEFAULT);
    }

    /**
     * Logs in, and opens the device.
     *
     * @param uri an {@link IscsiUri} with a LUN
     * @throws IllegalArgumentException if the URI is wrong; the message is one line for the user
     * @throws lunar.block.NotSupportedException if the LUN is a device of another type
     * @throws IOException if no connection can be established, or the device does not answer
     */
    public static OsdConnection open(String uri, OsdOptions options) throws IOException {
        IscsiUri parsed = IscsiUri.parse(uri);
        Lun lun = parsed.lun().orElseThrow(() -> new IllegalArgumentException("the URI of "
                + parsed.sessionOptions().targetName()
                + " has no LUN; append its number, as in .../0"));
        Initiator initiator = Initiator.create(InitiatorOptions
                .of(parsed.initiatorName().orElse(InitiatorOptions.DEFAULT_NAME))
                .withPolling(parsed.polling()).withRdmaDevice(parsed.rdmaProvider()));
        boolean opened = false;
        try {
            Isid isid = initiator.newIsid(); // of all sessions: a login ends the commands of the one before
            var link = new ReconnectingLink(
                    () -> initiator.login(parsed.sessionOptions(), isid), lun);
            var connection = new OsdConnection(initiator, link, Osd.open(link, options));
            link.identify();
            opened = true;
            return connection;
        } finally {
            if (!opened) {
                initiator.close();
            }
        }
    }

    /** Returns the device. */
    public Osd osd() { return osd; }

    /** Returns the session of the last login, which belongs to this. */
    public Session session() {
        return link.session();
    }

    /** Logs out. Idempotent. */
    @Override
    public void close() {
        link.close();
        initiator.close();
    }
}
