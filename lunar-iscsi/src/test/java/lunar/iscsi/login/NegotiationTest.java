package lunar.iscsi.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the response of a target to each kind of key (RFC 7143 section 6.2 and chapter 13). */
class NegotiationTest {
    private static final Offer OFFER = Offer.DEFAULT.withMaxConnections(4)
            .withDefaultTime2WaitSeconds(5).withErrorRecoveryLevel(1)
            .withHeaderDigest(DigestChoice.PREFER_CRC32C).withProtocolLevel(2)
            .withDataDigest(DigestChoice.NONE);
    private static final Offer ISER = OFFER
            .withIser(new Offer.Iser(8192, 8192, 0, 0, true, false));

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            // lists: the first of the proposer that is accepted
            "HeaderDigest=None;CRC32C|None", "HeaderDigest=SHA;CRC32C;None|CRC32C",
            "DataDigest=CRC32C|Reject", "DataDigest=CRC32C;None|None", "HeaderDigest=|Reject",
            "TaskReporting=FastAbort;RFC3720|RFC3720", "TaskReporting=FastAbort|Reject",
            // Yes or No
            "InitialR2T=No|No", "InitialR2T=Yes|Yes", "ImmediateData=Yes|Yes",
            "ImmediateData=No|No", "DataPDUInOrder=No|Yes", "DataSequenceInOrder=Yes|Yes",
            "InitialR2T=yes|Reject", "RDMAExtensions=Yes|No", "RDMAExtensions=No|No",
            // the smaller number
            "MaxConnections=8|4", "MaxConnections=2|2", "MaxConnections=0|Reject",
            "MaxConnections=65536|Reject", "MaxConnections=0x3|3",
            "MaxBurstLength=16777215|1048576", "MaxBurstLength=511|Reject",
            "MaxBurstLength=16777216|Reject", "FirstBurstLength=1024|1024",
            "FirstBurstLength=16777215|262144", "DefaultTime2Retain=3600|20",
            "DefaultTime2Retain=3601|Reject", "MaxOutstandingR2T=65535|16",
            "ErrorRecoveryLevel=2|1", "ErrorRecoveryLevel=3|Reject", "iSCSIProtocolLevel=31|2",
            "iSCSIProtocolLevel=32|Reject", "MaxConnections=-1|Reject", "MaxConnections=|Reject",
            // the larger number
            "DefaultTime2Wait=0|5", "DefaultTime2Wait=3600|3600", "DefaultTime2Wait=3601|Reject",
            // obsolete, unknown, out of place, without iSER
            "IFMarker=Yes|No", "OFMarker=No|No", "IFMarkInt=1~2|Reject", "OFMarkInt=1|Reject",
            "X-com.vendor.thing=1|NotUnderstood", "MaxBurstlength=512|NotUnderstood",
            "SendTargets=All|Reject", "TargetRecvDataSegmentLength=512|Irrelevant",
            "InitiatorRecvDataSegmentLength=512|Irrelevant"})
    void shouldAnswerAsTheKeySays(String proposal, String answer) throws Exception {
        var pairs = LoginFixture.keys(proposal).pairs();
        assertThat(target(SessionType.NORMAL).receive(pairs))
                .containsExactly(new KeyValue(pairs.getFirst().key(), answer));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"MaxConnections=8|1", "InitialR2T=Yes|Yes",
            "ImmediateData=No|No", "MaxBurstLength=512|512", "FirstBurstLength=512|512",
            "MaxOutstandingR2T=1|1", "DataPDUInOrder=Yes|Yes", "DataSequenceInOrder=Yes|Yes",
            "TaskReporting=RFC3720|RFC3720", "iSCSIProtocolLevel=1|1"})
    void shouldAnswerKeysWithAValueInDiscovery(String proposal, String answer) throws Exception {
        var pairs = LoginFixture.keys(proposal).pairs();
        assertThat(target(SessionType.DISCOVERY).receive(pairs))
                .containsExactly(new KeyValue(pairs.getFirst().key(), answer));
    }

    @Test
    void shouldCallRdmaIrrelevantInDiscovery() throws Exception {
        assertThat(target(SessionType.DISCOVERY)
                .receive(LoginFixture.keys("RDMAExtensions=Yes").pairs()))
                .containsExactly(new KeyValue("RDMAExtensions", "Irrelevant"));
    }

    @Test
    void shouldAnswerInRequestOrder() throws Exception {
        var answers = target(SessionType.NORMAL).receive(LoginFixture
                .keys("ErrorRecoveryLevel=0,X-a=1,FirstBurstLength=262144,MaxBurstLength=65536")
                .pairs());
        assertThat(answers).containsExactly(new KeyValue("ErrorRecoveryLevel", "0"),
                new KeyValue("X-a", "NotUnderstood"), new KeyValue("FirstBurstLength", "65536"),
                new KeyValue("MaxBurstLength", "65536"));
    }

    @Test
    void shouldKeepTheFirstBurstWithinTheBurst() throws Exception {
        var negotiation = target(SessionType.NORMAL);
        negotiation.receive(LoginFixture.keys("MaxBurstLength=8192").pairs());
        negotiation.finish();
        assertThat(negotiation.parameters().firstBurstLength()).isEqualTo(8192);
    }

    @Test
    void shouldRejectABurstBelowTheFirstBurstThatWasAgreed() throws Exception {
        var negotiation = target(SessionType.NORMAL);
        negotiation.receive(LoginFixture.keys("FirstBurstLength=65536").pairs());
        assertThatThrownBy(
                () -> negotiation.receive(LoginFixture.keys("MaxBurstLength=8192").pairs()))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("over MaxBurstLength");
    }

    @Test
    void shouldNotAnswerAnswers() throws Exception {
        assertThat(target(SessionType.NORMAL)
                .receive(LoginFixture.keys("X-a=NotUnderstood,TargetAlias=NotUnderstood").pairs()))
                .isEmpty();
    }

    @Test
    void shouldRequireADigestOfInitiatorsThatDoNotSpeakOfIt() throws Exception {
        var negotiation = new Negotiation(Key.Sender.TARGET,
                Offer.DEFAULT.withDataDigest(DigestChoice.REQUIRE_CRC32C),
                SessionType.NORMAL, Optional.empty());
        negotiation.receive(List.of());
        assertThatThrownBy(negotiation::finish).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("DataDigest=CRC32C is required");
    }

    @Test
    void shouldUseIserRulesIfNegotiated() throws Exception {
        var iser = OFFER.withIser(new Offer.Iser(131072, 65536, 16, 0, true, false));
        var target = new Negotiation(Key.Sender.TARGET, iser, SessionType.NORMAL,
                Optional.empty());
        var answers = target.receive(LoginFixture
                .keys("TargetRecvDataSegmentLength=262144,InitiatorRecvDataSegmentLength=8192,"
                        + "RDMAExtensions=Yes,MaxOutstandingUnexpectedPDUs=5,MaxAHSLength=0,"
                        + "TaggedBufferForSolicitedDataOnly=Yes,iSERHelloRequired=No")
                .pairs());
        assertThat(answers).containsExactly(new KeyValue("TargetRecvDataSegmentLength", "65536"),
                new KeyValue("InitiatorRecvDataSegmentLength", "8192"),
                new KeyValue("RDMAExtensions", "Yes"));
        assertThat(target.declarations()).containsExactly(
                new KeyValue("MaxOutstandingUnexpectedPDUs", "16"),
                new KeyValue("MaxAHSLength", "0"));
        var parameters = target.parameters();
        assertThat(parameters.maxReceiveDataSegmentLength()).isEqualTo(65536);
        assertThat(parameters.maxSendDataSegmentLength()).isEqualTo(8192);
        assertThat(parameters.iser()).contains(
                new OperationalParameters.Iser(8192, 65536, 5, 0, true, false));
    }

    @ParameterizedTest
    @CsvSource({"MaxOutstandingUnexpectedPDUs=1", "MaxOutstandingUnexpectedPDUs=4294967296",
            "MaxAHSLength=1", "iSERHelloRequired=1"})
    void shouldRejectDeclarationsOfIserThatAreOutOfRange(String pair) {
        var iser = OFFER.withIser(new Offer.Iser(8192, 8192, 0, 0, false, false));
        var target = new Negotiation(Key.Sender.TARGET, iser, SessionType.NORMAL,
                Optional.empty());
        assertThatThrownBy(
                () -> target.receive(LoginFixture.keys("RDMAExtensions=Yes," + pair).pairs()))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldTakeInitiatorsThatDeclareNothingToRegisterSolicitedDataOnly() throws Exception {
        assertThat(iserTarget("RDMAExtensions=Yes").parameters().iser().orElseThrow()
                .taggedBufferForSolicitedDataOnly()).isTrue();
        assertThat(iserTarget("RDMAExtensions=Yes,TaggedBufferForSolicitedDataOnly=No").parameters()
                .iser().orElseThrow().taggedBufferForSolicitedDataOnly()).isFalse();
    }

    /** Section 6.9: the default, for an initiator that has shown that it knows of the key. */
    @ParameterizedTest
    @ValueSource(strings = {"MaxAHSLength=0", "iSERHelloRequired=No"})
    void shouldTakeInitiatorsOfRfc7145AtItsDefaults(String said) throws Exception {
        Negotiation target = iserTarget("RDMAExtensions=Yes," + said);
        assertThat(target.declarations()).extracting(KeyValue::key)
                .contains("MaxOutstandingUnexpectedPDUs", "MaxAHSLength");
        assertThat(target.parameters().iser().orElseThrow().taggedBufferForSolicitedDataOnly())
                .isFalse();
    }

    /** The keys of open-iscsi, which fails at others. */
    @Test
    void shouldDeclareNothingToInitiatorsThatMayNotKnowTheKeys() throws Exception {
        Negotiation target = iserTarget("InitiatorRecvDataSegmentLength=262144,"
                + "TargetRecvDataSegmentLength=262144,RDMAExtensions=Yes");
        assertThat(target.declarations()).isEmpty();
        target.finish();
        assertThat(target.parameters().iser()).contains(
                new OperationalParameters.Iser(8192, 8192, 0, 256, true, false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"RDMAExtensions=No", "MaxConnections=1"})
    void shouldRefuseSessionsWithoutIserOnAConnectionThatNeedsIt(String said) throws Exception {
        assertThatThrownBy(iserTarget(said)::finish).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("RDMAExtensions=Yes is required");
    }

    @Test
    void shouldNeedNoIserForDiscovery() throws Exception {
        var discovery = new Negotiation(Key.Sender.TARGET, ISER, SessionType.DISCOVERY,
                Optional.empty());
        discovery.receive(LoginFixture.keys("RDMAExtensions=Yes").pairs());
        discovery.finish();
        assertThat(discovery.parameters().iser()).isEmpty();
    }

    /** A message over RDMA is no longer than this end has wanted, whatever the peer says to receive. */
    @ParameterizedTest
    @EnumSource(names = {"INITIATOR", "TARGET"})
    void shouldSendNoMoreInDiscoveryThanATransportForIserCan(Key.Sender self) throws Exception {
        var discovery = new Negotiation(self, ISER, SessionType.DISCOVERY, Optional.empty());
        discovery.receive(LoginFixture.keys("MaxRecvDataSegmentLength=32768").pairs());
        assertThat(discovery.parameters().maxSendDataSegmentLength()).isEqualTo(8192);
        discovery = new Negotiation(self, ISER, SessionType.DISCOVERY, Optional.empty());
        discovery.receive(LoginFixture.keys("MaxRecvDataSegmentLength=4096").pairs());
        assertThat(discovery.parameters().maxSendDataSegmentLength()).isEqualTo(4096);
    }

    private static Negotiation iserTarget(String said) throws ProtocolException {
        var target = new Negotiation(Key.Sender.TARGET, ISER, SessionType.NORMAL,
                Optional.empty());
        target.receive(LoginFixture.keys(said).pairs());
        return target;
    }

    private static Negotiation target(SessionType type) {
        return new Negotiation(Key.Sender.TARGET, OFFER, type, Optional.empty());
    }
}
