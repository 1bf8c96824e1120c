package lunar.osd.wire.data;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.wire.BigEndian;

/** A descriptor of a {@link ContinuationSegment}. */
public sealed interface ContinuationDescriptor
        permits ContinuationDescriptor.ScatterGather, QueryList,
        ContinuationDescriptor.UserObjects, ContinuationDescriptor.CopySource,
        ContinuationDescriptor.ExtensionCapabilities, ContinuationDescriptor.Other {
    /** Scatter/gather list. */
    int TYPE_SCATTER_GATHER = 0x0001;
    /** Query list. */
    int TYPE_QUERY_LIST = 0x0002;
    /** User objects, in a draft of the standard that Linux follows; it is read, but not written. */
    int TYPE_USER_OBJECTS_DRAFT = 0x0003;
    /** User objects. */
    int TYPE_USER_OBJECTS = 0x0100;
    /** Source of a copy. */
    int TYPE_COPY_SOURCE = 0x0101;
    /** Extension capabilities. */
    int TYPE_EXTENSION_CAPABILITIES = 0xffee;

    /** CDB CONTINUATION DESCRIPTOR TYPE. */
    int type();

    /** The content without its padding, as a new array. */
    byte[] content();

    /**
     * Where the data of a command are in the object. They follow each other in the data buffer without gaps; the sum of
     * their lengths need not be the length in the CDB.
     *
     * @param extents ranges of the object
     */
    record ScatterGather(List<Extent> extents) implements ContinuationDescriptor {
        /** A range of the object: offset, relative to the starting byte address of the CDB, and bytes; unsigned. */
        public record Extent(long offset, long length) {}

        private static final int EXTENT_LENGTH = 16;

        public ScatterGather {
            extents = List.copyOf(extents);
        }

        static ScatterGather decode(MemorySegment content) throws InvalidParameterListException {
            checkMultiple(content, EXTENT_LENGTH);
            var extents = new ArrayList<Extent>();
            for (long at = 0; at < content.byteSize(); at += EXTENT_LENGTH) {
                extents.add(
                        new Extent(BigEndian.int64(content, at), BigEndian.int64(content, at + 8)));
            }
            return new ScatterGather(extents);
        }

        @Override
        public int type() { return TYPE_SCATTER_GATHER; }

        @Override
        public byte[] content() {
            byte[] array = new byte[Math.multiplyExact(EXTENT_LENGTH, extents.size())];
            var content = MemorySegment.ofArray(array);
            long at = 0;
            for (Extent extent : extents) {
                BigEndian.int64(content, at, extent.offset());
                BigEndian.int64(content, at + 8, extent.length());
                at += EXTENT_LENGTH;
            }
            return array;
        }
    }

    /** User_Object_IDs of the partition that the command addresses. */
    record UserObjects(List<Long> ids) implements ContinuationDescriptor {
        private static final int ID_LENGTH = 8;

        public UserObjects {
            ids = List.copyOf(ids);
        }

        static UserObjects decode(MemorySegment content) throws InvalidParameterListException {
            checkMultiple(content, ID_LENGTH);
            var ids = new ArrayList<Long>();
            for (long at = 0; at < content.byteSize(); at += ID_LENGTH) {
                ids.add(BigEndian.int64(content, at));
            }
            return new UserObjects(ids);
        }

        @Override
        public int type() { return TYPE_USER_OBJECTS; }

        @Override
        public byte[] content() {
            byte[] array = new byte[Math.multiplyExact(ID_LENGTH, ids.size())];
            var content = MemorySegment.ofArray(array);
            for (int i = 0; i < ids.size(); i++) {
                BigEndian.int64(content, (long) i * ID_LENGTH, ids.get(i));
            }
            return array;
        }
    }

    /** The object that is copied, and copy flags, which are not decoded. */
    record CopySource(ObjectId source, Bytes flags) implements ContinuationDescriptor {
        static CopySource decode(MemorySegment content) throws InvalidParameterListException {
            if (content.byteSize() < ObjectId.LENGTH) {
                throw InvalidParameterListException.length();
            }
            return new CopySource(
                    new ObjectId(BigEndian.int64(content, 0), BigEndian.int64(content, 8)),
                    Bytes.of(content.asSlice(ObjectId.LENGTH)));
        }

        @Override
        public int type() { return TYPE_COPY_SOURCE; }

        @Override
        public byte[] content() {
            byte[] array = new byte[ObjectId.LENGTH + flags.length()];
            var content = MemorySegment.ofArray(array);
            BigEndian.int64(content, 0, source.partition());
            BigEndian.int64(content, 8, source.object());
            Fields.bytes(content, ObjectId.LENGTH, flags);
            return array;
        }
    }

    /** Further capabilities, which are not decoded; the text form leaves them out. */
    record ExtensionCapabilities(Bytes capabilities) implements ContinuationDescriptor {
        @Override
        public int type() { return TYPE_EXTENSION_CAPABILITIES; }

        @Override
        public byte[] content() { return capabilities.toArray(); }

        @Override
        public String toString() {
            return "ExtensionCapabilities[" + capabilities.length() + " bytes]";
        }
    }

    /** A descriptor of a type without a record here; its type is 1h to FFFFh. */
    record Other(int type, Bytes bytes) implements ContinuationDescriptor {
        public Other {
            if (type <= 0 || type > 0xffff || isKnown(type)) {
                throw new IllegalArgumentException("continuation descriptor type " + type);
            }
        }

        private static boolean isKnown(int type) {
            return switch (type) {
                case TYPE_SCATTER_GATHER, TYPE_QUERY_LIST, TYPE_USER_OBJECTS_DRAFT,
                        TYPE_USER_OBJECTS, TYPE_COPY_SOURCE, TYPE_EXTENSION_CAPABILITIES ->
                    true;
                default -> false;
            };
        }

        @Override
        public byte[] content() { return bytes.toArray(); }
    }

    /**
     * Reads a descriptor.
     *
     * @param type not 0
     * @param content without padding
     * @throws InvalidParameterListException 1Ah/00h if the content is cut, or another error in a query list
     */
    static ContinuationDescriptor decode(int type, MemorySegment content)
            throws InvalidParameterListException {
        return switch (type) {
            case TYPE_SCATTER_GATHER -> ScatterGather.decode(content);
            case TYPE_QUERY_LIST -> QueryList.decode(content);
            case TYPE_USER_OBJECTS, TYPE_USER_OBJECTS_DRAFT -> UserObjects.decode(content);
            case TYPE_COPY_SOURCE -> CopySource.decode(content);
            case TYPE_EXTENSION_CAPABILITIES -> new ExtensionCapabilities(Bytes.of(content));
            default -> new Other(type, Bytes.of(content));
        };
    }

    private static void checkMultiple(MemorySegment content, int unit)
            throws InvalidParameterListException {
        if (content.byteSize() % unit != 0) {
            throw InvalidParameterListException.length();
        }
    }
}
