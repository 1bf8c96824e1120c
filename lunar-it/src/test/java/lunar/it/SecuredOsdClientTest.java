package lunar.it;

import lunar.iscsi.spi.Transports;
import lunar.osd.client.OsdOptions;
import lunar.osd.client.security.CredentialIssuer;
import lunar.osd.security.SecretKey;
import lunar.osd.store.ObjectStore;
import lunar.osd.target.OsdSecurity;
import lunar.osd.target.OsdSpec;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;
import lunar.testkit.pipe.PlacingPipeTransportProvider;
import org.junit.jupiter.api.Nested;

/** Runs the contract of the client and the device of object stores with each security method. */
class SecuredOsdClientTest {
    private static final SecretKey MASTER = SecretKey.of(Bytes.ofHex("6b".repeat(40)));

    private abstract static class Secured extends OsdClientContract {
        private final SecurityMethod method;

        Secured(String scheme, SecurityMethod method) {
            super(scheme);
            this.method = method;
        }

        @Override
        OsdSpec spec(ObjectStore of) {
            return OsdSpec.of(of).withSecurity(OsdSecurity.of(method, MASTER));
        }

        @Override
        OsdOptions options() {
            return OsdOptions.DEFAULT.withCredentials(new CredentialIssuer(MASTER, method));
        }
    }

    @Nested
    class Capkey extends Secured {
        Capkey() { super(Transports.ISCSI, SecurityMethod.CAPKEY); }
    }

    @Nested
    class Cmdrsp extends Secured {
        Cmdrsp() { super(Transports.ISCSI, SecurityMethod.CMDRSP); }
    }

    @Nested
    class Alldata extends Secured {
        Alldata() { super(Transports.ISCSI, SecurityMethod.ALLDATA); }
    }

    @Nested
    class AlldataPlacing extends Secured {
        AlldataPlacing() { super(PlacingPipeTransportProvider.SCHEME, SecurityMethod.ALLDATA); }
    }
}
