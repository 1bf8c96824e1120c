package lunar.osd.target.security;

import java.util.Optional;
import lunar.block.StorageException;
import lunar.osd.store.ObjectWriter;
import lunar.osd.target.attribute.SecurityFacts;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.scsi.Bytes;

/** The security of a device. Thread-safe. */
public sealed interface DeviceSecurity extends SecurityFacts permits NoSecurity, EnforcedSecurity {
    /** Whether commands are checked at all. */
    boolean isOn();

    /**
     * Judges a command, whose nonce is used up if its integrity check value is right. Not within a query or a change of
     * the store.
     */
    Admission admit(SecuredRequest request) throws StorageException;

    /**
     * Returns where data-out has integrity information: {@link BufferPart#NONE} if the method of the capability has
     * none; empty if the offset cannot be decoded.
     */
    Optional<BufferPart> dataOutIntegrity(OsdCdb command);

    /** Returns where data-in gets integrity information; like {@link #dataOutIntegrity}. */
    Optional<BufferPart> dataInIntegrity(OsdCdb command);

    /** Sets a key, in a change of the store. {@link #changed} has to follow it. */
    void setKey(ObjectWriter objects, SetKeyCommand command) throws StorageException;

    /** Called after keys, partitions or the system identifier may have changed; like {@link #admit}. */
    void changed() throws StorageException;

    /** Returns the OSD system identifier; no bytes without security. */
    Bytes systemId();
}
