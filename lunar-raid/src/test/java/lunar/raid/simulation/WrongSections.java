package lunar.raid.simulation;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.metadata.record.MetadataLayout;

/** Journals on members with one mistake each in what is done with their sections. */
final class WrongSections {
    /** Of a section, before its ring: the two places of its page. */
    private static final long RING_AT = 128 << 10;

    private WrongSections() {}

    /** A member that does something else with a part of the journal. */
    private static class Changed extends ForwardingDevice {
        private final MetadataLayout layout;

        Changed(BlockDevice right, MetadataLayout layout) {
            super(right);
            this.layout = layout;
        }

        private long at(BlockRequest request) {
            long at = request.lba() * blockSize() - layout.journalBytes();
            return layout.journalBytes() == 0 || at >= layout.journalLengthBytes() ? -1 : at;
        }

        /** The section whose ring a request is for; -1 where it is for none. */
        final int ring(BlockRequest request) {
            return section(request, true);
        }

        /** The section whose page it is for; -1 where it is for none. */
        final int page(BlockRequest request) {
            return section(request, false);
        }

        private int section(BlockRequest request, boolean isRing) {
            long at = at(request);
            boolean isThere = at >= 0 && at % layout.sectionLengthBytes() >= RING_AT == isRing;
            return isThere ? (int) (at / layout.sectionLengthBytes()) : -1;
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }
    }

    /** A start finds the entries of the first section, and nothing in the others. */
    static Rules replaysTheFirstAlone() {
        return Rules.members((layout, _, _, member) -> new Changed(member, layout) {
            @Override
            public void execute(BlockRequest request) throws StorageException {
                super.execute(request);
                if (request.operation() == Operation.READ && ring(request) > 0) {
                    request.buffer().fill((byte) 0);
                }
            }
        });
    }

    /** A start begins the first section anew; pages of the others say that they go on where they were. */
    static Rules beginsTheFirstAlone() {
        return Rules.members((layout, _, _, member) -> new Changed(member, layout) {
            @Override
            public void execute(BlockRequest request) throws StorageException {
                if (request.operation() != Operation.WRITE || page(request) <= 0) {
                    super.execute(request);
                }
            }
        });
    }

    /** Of each section only its first member has entries, so they are lost with that one. */
    static Rules logsOnOneMember() {
        return Rules.members((layout, slot, slots, member) -> new Changed(member, layout) {
            @Override
            public void submit(BlockRequest request) {
                int section = request.operation() == Operation.WRITE ? ring(request) : -1;
                if (section >= 0 && section * slots / layout.journalSections() != slot) {
                    RequestCompletion.succeed(request);
                } else {
                    super.submit(request);
                }
            }
        });
    }
}
