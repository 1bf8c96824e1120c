package lunar.osd.target.security;

import java.util.Optional;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectWriter;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;

/** NOSEC: no field of a capability or of the security parameters is looked at. */
public enum NoSecurity implements DeviceSecurity {
    /** The only one. */
    NOSEC;

    private static final Optional<BufferPart> NOWHERE = Optional.of(BufferPart.NONE);

    @Override
    public boolean isOn() { return false; }

    @Override
    public Admission admit(SecuredRequest request) { return Admission.FREE; }

    @Override
    public Optional<BufferPart> dataOutIntegrity(OsdCdb command) { return NOWHERE; }

    @Override
    public Optional<BufferPart> dataInIntegrity(OsdCdb command) { return NOWHERE; }

    @Override
    public void setKey(ObjectWriter objects, SetKeyCommand command) {
        throw new IllegalStateException("there are no keys");
    }

    @Override
    public void changed() {}

    @Override
    public Bytes systemId() { return Bytes.EMPTY; }

    @Override
    public SecurityMethod method() { return SecurityMethod.NOSEC; }

    @Override
    public int bootEpoch() { return 0; }

    @Override
    public long oldestNonceMs() { return 0; }

    @Override
    public long newestNonceMs() { return 0; }

    @Override
    public int nonceDepth() { return 0; }

    @Override
    public Bytes masterKeyId() { return Bytes.EMPTY; }

    @Override
    public Bytes rootKeyId(ObjectReader objects) { return Bytes.EMPTY; }

    @Override
    public Bytes partitionKeyId(ObjectReader objects, long partition) { return Bytes.EMPTY; }

    @Override
    public Bytes workingKeyId(ObjectReader objects, long partition, int version) {
        return Bytes.EMPTY;
    }
}
