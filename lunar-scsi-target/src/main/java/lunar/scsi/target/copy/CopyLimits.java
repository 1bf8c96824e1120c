package lunar.scsi.target.copy;

import java.util.List;
import java.util.TreeMap;
import lunar.block.BlockDevice;
import lunar.scsi.Bytes;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.command.StandardCommands;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.CopyOperatingParameters;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.copy.RodToken;
import lunar.scsi.copy.WriteUsingTokenList;
import lunar.scsi.vpd.ThirdPartyCopy;
import lunar.scsi.vpd.ThirdPartyCopy.Descriptor;

/** Limits of the copy manager, and the VPD page that reports them (SPC-5 sections 6.4 and 7.7.19). */
public final class CopyLimits {
    private static final int MAX_CSCDS = 16;
    private static final int MAX_SEGMENTS = 64;

    /** Maximum number of descriptors of one EXTENDED COPY; far more than hosts use. */
    static final CopyParameterList.Limits DESCRIPTORS = new CopyParameterList.Limits(MAX_CSCDS,
            MAX_SEGMENTS,
            MAX_CSCDS * CscdDescriptor.LENGTH + MAX_SEGMENTS * BlockCopySegment.LENGTH);
    /** Maximum length of data-out of EXTENDED COPY. */
    static final int MAX_COPY_LIST_BYTES = CopyParameterList.MAX_HEADER_LENGTH
            + DESCRIPTORS.maxDescriptorBytes();
    /** Maximum number of ranges of a token, and of a write that uses one. */
    static final int MAX_RANGES = 64;
    /** Maximum length of data-out of a token command. */
    static final int MAX_TOKEN_LIST_BYTES = WriteUsingTokenList.length(MAX_RANGES);
    /** Maximum number of bytes of a token, and of a write that uses one. */
    static final long MAX_TOKEN_BYTES = 64L << 30;

    private static final long OPTIMAL_TOKEN_BYTES = 64L << 20;
    private static final int BLOCKS_OF_SEGMENT = 0xffff;
    private static final int THIRD_PARTY_COPY_OUT = 0x83;
    private static final int THIRD_PARTY_COPY_IN = 0x84;
    private static final List<Integer> DESCRIPTOR_TYPES = List.of(BlockCopySegment.TYPE,
            CscdDescriptor.TYPE);

    private CopyLimits() {}

    static CopyOperatingParameters operatingParameters(BlockDevice device) {
        return new CopyOperatingParameters(true, DESCRIPTORS,
                (long) BLOCKS_OF_SEGMENT * device.blockSize(), CopyService.MAX_RUNNING,
                Math.min(CopyService.MAX_RUNNING, CopyOperations.MAX_KEPT),
                Integer.numberOfTrailingZeros(device.blockSize()), DESCRIPTOR_TYPES);
    }

    /** Returns the maximum number of blocks of a token. */
    static long maxTokenBlocks(BlockDevice device) {
        return MAX_TOKEN_BYTES / device.blockSize();
    }

    /**
     * VPD page 8Fh.
     *
     * @param makesTokens whether POPULATE TOKEN is there
     */
    public static ThirdPartyCopy page(BlockDevice device, boolean makesTokens) {
        var actions = new TreeMap<Integer, List<Integer>>();
        for (int opcode : new int[]{THIRD_PARTY_COPY_OUT, THIRD_PARTY_COPY_IN}) {
            actions.put(opcode, StandardCommands.ALL.stream()
                    .filter(command -> command.opcode() == opcode)
                    .map(CommandDescriptor::serviceAction).map(it -> it.orElse(0))
                    .filter(action -> makesTokens || opcode != THIRD_PARTY_COPY_OUT
                            || action != PopulateToken.SERVICE_ACTION)
                    .toList());
        }
        return new ThirdPartyCopy(List.of(
                Descriptor.blockTokenLimits(MAX_RANGES, RodTokens.MAX_INACTIVITY_SECONDS,
                        RodTokens.DEFAULT_INACTIVITY_SECONDS, maxTokenBlocks(device),
                        OPTIMAL_TOKEN_BYTES / device.blockSize()),
                Descriptor.commands(actions), DESCRIPTORS.parameterData(),
                Descriptor.descriptorTypes(DESCRIPTOR_TYPES),
                Descriptor.cscdIds(List.of(CscdDescriptor.THIS_UNIT)),
                Descriptor.tokenFeatures(RodTokens.MAX_LIFETIME_SECONDS,
                        RodTokens.MAX_INACTIVITY_SECONDS, MAX_TOKEN_BYTES, OPTIMAL_TOKEN_BYTES),
                Descriptor.rodTypes(List.of(
                        new ThirdPartyCopy.RodType(RodToken.CHANGE_VULNERABLE, true,
                                makesTokens),
                        new ThirdPartyCopy.RodType(RodToken.ZEROES, true, false))),
                operatingParameters(device).generalOperations()));
    }
}
