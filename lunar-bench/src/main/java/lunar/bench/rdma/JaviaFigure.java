package lunar.bench.rdma;

/**
 * Result of one measurement.
 *
 * @param contender variant of Lunar, or {@link RawC#NAME}
 * @param figure result, in the unit of the {@link Mode}
 */
record JaviaFigure(int round, String device, String contender, Mode mode, int messageBytes,
        double figure) {}
