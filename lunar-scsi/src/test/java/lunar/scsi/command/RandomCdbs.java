package lunar.scsi.command;

import java.util.Random;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.FormatUnit;
import lunar.scsi.block.GetLbaStatus;
import lunar.scsi.block.OrWrite;
import lunar.scsi.block.PreFetch;
import lunar.scsi.block.PreventAllowMediumRemoval;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.ReadCapacity10;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.block.ReadDefectData;
import lunar.scsi.block.Sanitize;
import lunar.scsi.block.StartStopUnit;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.VerifyBlocks;
import lunar.scsi.block.WriteAndVerify;
import lunar.scsi.block.WriteAtomic;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.block.WriteSame;
import lunar.scsi.copy.CopyOperationAbort;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.copy.WriteUsingToken;
import lunar.scsi.log.LogSelect;
import lunar.scsi.log.LogSense;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.ReadBuffer;
import lunar.scsi.primary.ReceiveDiagnosticResults;
import lunar.scsi.primary.ReportIdentifyingInformation;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.ReportTargetPortGroups;
import lunar.scsi.primary.ReportTimestamp;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.primary.SendDiagnostic;
import lunar.scsi.primary.SetIdentifyingInformation;
import lunar.scsi.primary.SetTargetPortGroups;
import lunar.scsi.primary.SetTimestamp;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.primary.WriteBuffer;
import lunar.scsi.reservation.PersistentReserveIn;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.Release;
import lunar.scsi.reservation.Reserve;
import lunar.scsi.vpd.Inquiry;

/** Generates any CDB that {@link Cdb} can represent. */
public final class RandomCdbs {
    public static final int KINDS = 48;

    private static final CdbForm[] ALL = CdbForm.values();
    private static final CdbForm[] LONG = {CdbForm.CDB10, CdbForm.CDB12, CdbForm.CDB16};
    private static final CdbForm[] TEN_SIXTEEN = {CdbForm.CDB10, CdbForm.CDB16};
    private static final CdbForm[] SIX_TEN = {CdbForm.CDB6, CdbForm.CDB10};

    private final Random random;

    public RandomCdbs(Random random) { this.random = random; }

    public Cdb next(int kind) {
        return switch (kind) {
            case 0 -> new TestUnitReady();
            case 1 -> new RequestSense(flag(), bits(8));
            case 2 -> {
                boolean evpd = flag();
                yield new Inquiry(evpd, evpd ? bits(8) : 0, bits(16));
            }
            case 3 -> new ReadCapacity10();
            case 4 -> new ReadCapacity16(uint32());
            case 5 -> new ReportLuns(bits(8), uint32());
            case 6 -> {
                CdbForm form = one(SIX_TEN);
                boolean six = form == CdbForm.CDB6;
                yield new ModeSense(form, !six && flag(), flag(),
                        one(ModeSense.PageControl.values()), bits(6), bits(8), bits(six ? 8 : 16));
            }
            case 7 -> {
                CdbForm form = one(SIX_TEN);
                yield new ModeSelect(form, flag(), flag(), flag(),
                        bits(form == CdbForm.CDB6 ? 8 : 16));
            }
            case 8 -> {
                CdbForm form = one(ALL);
                boolean six = form == CdbForm.CDB6;
                yield new ReadBlocks(form, lba(form), count(form), six ? 0 : bits(3),
                        !six && flag(), !six && flag(), six ? 0 : bits(6));
            }
            case 9 -> {
                CdbForm form = one(ALL);
                boolean six = form == CdbForm.CDB6;
                yield new WriteBlocks(form, lba(form), count(form), six ? 0 : bits(3),
                        !six && flag(), !six && flag(), six ? 0 : bits(6));
            }
            case 10 -> {
                CdbForm form = one(TEN_SIXTEEN);
                yield new SynchronizeCache(form, lba(form), count(form), flag(), bits(6));
            }
            case 11 -> {
                CdbForm form = one(LONG);
                yield new VerifyBlocks(form, lba(form), count(form), bits(3), flag(),
                        new int[]{0, 1, 3}[random.nextInt(3)], bits(6));
            }
            case 12 -> {
                CdbForm form = one(LONG);
                yield new WriteAndVerify(form, lba(form), count(form), bits(3), flag(), bits(1),
                        bits(6));
            }
            case 13 -> new Unmap(flag(), bits(6), bits(16));
            case 14 -> {
                CdbForm form = one(TEN_SIXTEEN);
                yield new WriteSame(form, lba(form), count(form), bits(3), flag(), flag(),
                        form == CdbForm.CDB16 && flag(), bits(6));
            }
            case 15 -> new CompareAndWrite(random.nextLong(), bits(8), bits(3), flag(), flag(),
                    bits(6));
            case 16 -> new GetLbaStatus(random.nextLong(), uint32(), bits(8));
            case 17 -> {
                CdbForm form = one(TEN_SIXTEEN);
                yield new PreFetch(form, lba(form), count(form), flag(), bits(6));
            }
            case 18 -> new StartStopUnit(flag(), bits(4), bits(4), flag(), flag(), flag());
            case 19 -> new PreventAllowMediumRemoval(bits(2));
            case 20 -> new ReportSupportedOperationCodes(flag(), bits(3), bits(8), bits(16),
                    uint32());
            case 21 -> new ReportSupportedTaskManagementFunctions(flag(), uint32());
            case 22 -> new ReportTargetPortGroups(flag(), uint32());
            case 23 -> new PersistentReserveIn(bits(5), bits(16));
            case 24 -> new PersistentReserveOut(bits(5), bits(4), bits(4), uint32());
            case 25 -> new Reserve(one(SIX_TEN));
            case 26 -> new Release(one(SIX_TEN));
            case 27 -> new OrWrite(random.nextLong(), uint32(), bits(3), flag(), flag(), bits(6));
            case 28 -> new WriteAtomic(random.nextLong(), bits(16), bits(16), bits(3), flag(),
                    flag(), bits(6));
            case 29 -> new Sanitize(new int[]{1, 2, 3, 0x1f}[bits(2)], flag(), flag(), flag(),
                    bits(16));
            case 30 -> new FormatUnit(bits(2), flag(), flag(), flag(), bits(3), bits(2));
            case 31 -> {
                boolean ten = flag();
                yield new ReadDefectData(ten ? CdbForm.CDB10 : CdbForm.CDB12, flag(), flag(),
                        bits(3), ten ? 0 : uint32(), ten ? bits(16) : uint32());
            }
            case 32 -> new LogSense(flag(), bits(2), bits(6), bits(8), bits(16), bits(16));
            case 33 -> new LogSelect(flag(), flag(), bits(2), bits(6), bits(8), bits(16));
            case 34 -> new ReadBuffer(bits(3), bits(5), bits(8), bits(24), bits(24));
            case 35 -> new WriteBuffer(bits(3), bits(5), bits(8), bits(24), bits(24));
            case 36 -> new SendDiagnostic(bits(3), flag(), flag(), flag(), flag(), bits(16));
            case 37 -> new ReceiveDiagnosticResults(flag(), bits(8), bits(16));
            case 38 -> new SetTargetPortGroups(uint32());
            case 39 -> new ReportIdentifyingInformation(uint32(), bits(7));
            case 40 -> new SetIdentifyingInformation(uint32(), bits(7));
            case 41 -> new ReportTimestamp(uint32());
            case 42 -> new SetTimestamp(uint32());
            case 43 -> new ExtendedCopy(flag(), uint32());
            case 44 -> new PopulateToken(uint32(), uint32(), bits(6));
            case 45 -> new WriteUsingToken(uint32(), uint32(), bits(6));
            case 46 -> new CopyOperationAbort(uint32());
            case 47 -> {
                int action = new int[]{0, 1, 3, 4, 5, 6, 7}[random.nextInt(7)];
                yield new ReceiveCopyResults(action, action >= 5 ? uint32() : bits(8), uint32());
            }
            default -> throw new AssertionError(kind);
        };
    }

    private boolean flag() { return random.nextBoolean(); }

    private int bits(int count) { return random.nextInt(1 << count); }

    private long uint32() { return random.nextLong() & 0xffff_ffffL; }

    private long lba(CdbForm form) {
        return switch (form) {
            case CDB6 -> bits(21);
            case CDB10, CDB12 -> uint32();
            case CDB16 -> random.nextLong();
        };
    }

    private long count(CdbForm form) {
        return switch (form) {
            case CDB6 -> 1 + bits(8);
            case CDB10 -> bits(16);
            case CDB12, CDB16 -> uint32();
        };
    }

    private <T> T one(T[] choice) { return choice[random.nextInt(choice.length)]; }
}
