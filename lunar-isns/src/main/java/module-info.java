/** Internet Storage Name Service (iSNS, RFC 4171): registers targets at a name server and finds them there. */
module lunar.isns {
    requires static org.jspecify;

    exports lunar.isns;
}
