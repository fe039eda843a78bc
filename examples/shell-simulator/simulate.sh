# One day in a shop: customers come by chance, queue, and are angry if they wait. Prints what the day costs.
# Usage: simulate.sh TILLS SECONDS_FOR_A_CUSTOMER
awk -v tills="$1" -v seconds="$2" 'BEGIN {
    srand(7)                                        # the same customers every day
    for (t = 0; t < 36000; t += -25 * log(1 - rand())) {
        till = 1
        for (k = 2; k <= tills; k++) if (free[k] < free[till]) till = k
        begin = free[till] > t ? free[till] : t
        free[till] = begin + seconds * (0.5 + rand())
        waited = begin - t
        anger += waited > 60 ? (waited - 60) * 0.02 : 0
    }
    print tills * 120 + tills * 6000 / seconds + anger      # wages, faster staff, lost customers
}'
