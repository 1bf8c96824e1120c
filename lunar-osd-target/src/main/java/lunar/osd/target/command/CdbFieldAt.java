package lunar.osd.target.command;

import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.command.OsdCdb;

/** Offsets of fields in a CDB, for field pointers. */
final class CdbFieldAt {
    static final int OPTIONS = 10;
    static final int FORMAT = 11;
    static final int PARTITION = 16;
    static final int OBJECT = 24;
    /** Get attributes list length, and the page or attribute of other formats. */
    static final int ATTRIBUTES = 52;
    static final int GET_LIST_OFFSET = 56;
    static final int PAGE_RETRIEVED_OFFSET = 60;
    static final int LIST_RETRIEVED_OFFSET = 64;
    static final int SET_LIST_LENGTH = 68;
    static final int SET_LIST_OFFSET = 72;
    static final int PAGE_SET_LENGTH = 72;
    static final int PAGE_SET_OFFSET = 76;
    static final int CONTINUATION = 48;

    private CdbFieldAt() {}

    /** Length, allocation length, formatted capacity or number of objects. */
    static int length(OsdCdb command) {
        return command.common().version() == OsdVersion.OSD_1 ? 36 : 32;
    }

    /** Starting byte address, initial identifier, source or matches collection. */
    static int start(OsdCdb command) {
        return command.common().version() == OsdVersion.OSD_1 ? 44 : 40;
    }

    /** Data-in integrity check value offset. */
    static int dataInIntegrity(OsdCdb command) {
        return command.common().version() == OsdVersion.OSD_1 ? 192 : 228;
    }

    /** Data-out integrity check value offset. */
    static int dataOutIntegrity(OsdCdb command) {
        return dataInIntegrity(command) + 4;
    }

    /** List identifier. */
    static int listIdentifier(OsdCdb command) {
        return command.common().version() == OsdVersion.OSD_1 ? 32 : 48;
    }
}
