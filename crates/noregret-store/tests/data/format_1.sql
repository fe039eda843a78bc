-- A database as noregret wrote it before events embedded those of the study: every kind of event, in format 1.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE entries (
        study    INTEGER NOT NULL REFERENCES studies (id),
        position INTEGER NOT NULL,              -- 1, 2, 3, ...
        time     INTEGER NOT NULL,              -- milliseconds since 1970, UTC
        body     TEXT NOT NULL,                 -- JSON
        PRIMARY KEY (study, position)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "entries" VALUES(1,1,1794962268772,'{"defined":{"version":1,"direction":"minimize","seed":3,"algorithm":{"name":"gp-ei","improvement":"log-expected","model":{"kernel":"matern-52","odds":{"start":1.0,"low":0.01,"high":1000.0,"prior":{"log-normal":{"location":4.0,"scale":2.0}}},"ntk":{"depth":2,"weight_sd":1.5,"bias_sd":0.05,"symmetric":false},"isotropic":false,"lengthscale":{"start":0.5,"low":0.005,"high":100.0,"prior":"dimension-scaled"},"lengthscales":[],"outputscale":{"start":1.0,"low":0.01,"high":100.0,"prior":{"log-normal":{"location":1.0,"scale":1.0}}},"noise":{"start":0.0001,"low":1e-6,"high":1.0,"prior":{"log-normal":{"location":2.0,"scale":3.0}}},"standardize":true,"transform":"none","max_points":8000,"fit_points":500,"refit_growth":0.125,"warm_start":true,"pending":"noisy","features":1024},"solver":{"name":"auto","candidates":1000,"polished":4},"measure":"scheduled","initial_points":3,"trust_region":null,"apart":0.0},"duplicates":"avoid","space":{"parameters":{"parameters":{"x":{"type":"float","low":0.0,"high":1.0,"log":false},"layers":{"type":"int","low":1,"high":4,"log":false}},"constraints":{}}}}}');
INSERT INTO "entries" VALUES(1,2,1794962268776,'{"asked":{"first":0,"choices":[{"x":[0.6549172868253663,0.125]},{"x":[0.32351258874405175,0.625]}],"memo":{"design":{"seed":13352056953937619222,"used":2},"fit":null,"ledger":{"rounds":0,"measured":0,"eta_hat":null,"m_hat":0.0,"next":0,"grid":null}},"diagnostics":{"algorithm":"gp-ei","design_points":2,"work":{"values":0,"gradients":0},"duplicates_avoided":0},"seconds":0.000031197}}');
INSERT INTO "entries" VALUES(1,3,1794962268776,'{"leased":{"number":0,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388776}}');
INSERT INTO "entries" VALUES(1,4,1794962268778,'{"told":{"number":0,"value":0.6549172868253663,"seconds":0.002071069}}');
INSERT INTO "entries" VALUES(1,5,1794962268780,'{"leased":{"number":1,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388780}}');
INSERT INTO "entries" VALUES(1,6,1794962268784,'{"told":{"number":1,"value":0.32351258874405175,"seconds":0.003946807}}');
INSERT INTO "entries" VALUES(1,7,1794962268792,'{"asked":{"first":2,"choices":[{"x":[0.15770404448267072,0.375]},{"x":[0.1318448658154937,0.625]}],"memo":{"design":{"seed":13352056953937619222,"used":3},"fit":{"evaluations":2,"mean":-0.48921493778470904,"sd":0.16570234904065728,"hyperparameters":{"lengthscales":[0.263157106631843,0.1929514294389988],"outputscale":1.016681679748405,"noise_variance":0.0009126483609543621},"seed":12759177007658686144,"likelihoods":20},"ledger":{"rounds":1,"measured":0,"eta_hat":null,"m_hat":0.0,"next":0,"grid":null}},"diagnostics":{"algorithm":"gp-ei","design_points":1,"model":{"points":2,"pending":0,"failures":0,"refitted":true,"fit":{"evaluations":2,"mean":-0.48921493778470904,"sd":0.16570234904065728,"hyperparameters":{"lengthscales":[0.263157106631843,0.1929514294389988],"outputscale":1.016681679748405,"noise_variance":0.0009126483609543621},"seed":12759177007658686144,"likelihoods":20},"jitter":0.0,"factor_retries":0,"lifted_pivots":0},"work":{"values":1072,"gradients":28},"duplicates_avoided":0},"seconds":0.004094617}}');
INSERT INTO "entries" VALUES(1,8,1794962268792,'{"leased":{"number":2,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388792}}');
INSERT INTO "entries" VALUES(1,9,1794962268794,'{"retried":{"number":2,"reason":"it ended with exit code 1","stderr":"out of memory","seconds":0.001390665}}');
INSERT INTO "entries" VALUES(1,10,1794962268794,'{"leased":{"number":2,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388794}}');
INSERT INTO "entries" VALUES(1,11,1794962268795,'{"failed":{"number":2,"reason":"it ended with exit code 1","stderr":"out of memory","seconds":0.001319057}}');
INSERT INTO "entries" VALUES(1,12,1794962268796,'{"leased":{"number":3,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388796}}');
INSERT INTO "entries" VALUES(1,13,1794962268800,'{"told":{"number":3,"value":0.25,"noise_var":0.01,"attrs":{"epochs":7},"seconds":0.001570443}}');
INSERT INTO "entries" VALUES(1,14,1794962268806,'{"asked":{"first":4,"choices":[{"x":[0.0531673342139905,0.875]},{"x":[0.8751090703450588,0.875]}],"memo":{"design":{"seed":13352056953937619222,"used":3},"fit":{"evaluations":4,"mean":-0.409476625189806,"sd":0.1761284833372865,"hyperparameters":{"lengthscales":[0.5716369867738449,0.19476896328989804],"outputscale":1.0133306146628054,"noise_variance":0.0009101159043285415},"seed":3267805037563062723,"likelihoods":5},"ledger":{"rounds":3,"measured":2,"eta_hat":1.0,"m_hat":0.0,"next":4,"grid":null}},"diagnostics":{"algorithm":"gp-ei","design_points":0,"model":{"points":4,"pending":0,"failures":1,"refitted":true,"fit":{"evaluations":4,"mean":-0.409476625189806,"sd":0.1761284833372865,"hyperparameters":{"lengthscales":[0.5716369867738449,0.19476896328989804],"outputscale":1.0133306146628054,"noise_variance":0.0009101159043285415},"seed":3267805037563062723,"likelihoods":5},"jitter":0.0,"factor_retries":0,"lifted_pivots":0},"work":{"values":2169,"gradients":44},"inexactness":{"eta_hat":1.0,"m_hat":0.0,"rounds":3,"measured":2,"shift":"minimum over the reference points"},"duplicates_avoided":0},"seconds":0.002025751}}');
INSERT INTO "entries" VALUES(1,15,1794962268806,'{"leased":{"number":4,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388806}}');
INSERT INTO "entries" VALUES(1,16,1794962268807,'{"retried":{"number":4,"reason":"the value is NaN, not a finite number","seconds":0.001376723}}');
INSERT INTO "entries" VALUES(1,17,1794962268808,'{"leased":{"number":4,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388808}}');
INSERT INTO "entries" VALUES(1,18,1794962268811,'{"failed":{"number":4,"reason":"the value is NaN, not a finite number","seconds":0.003059243}}');
INSERT INTO "entries" VALUES(1,19,1794962268812,'{"leased":{"number":5,"worker":"23054-95632@99ed0be7-563b-442c-967c-214ba0a5f7af-4026531836","until":1794962388812}}');
INSERT INTO "entries" VALUES(1,20,1794962268816,'{"told":{"number":5,"value":0.8751090703450588,"seconds":0.004004392}}');
INSERT INTO "entries" VALUES(1,21,1794962268840,'{"asked":{"first":6,"choices":[{"x":[0.0,0.625]},{"x":[1.0,0.625]},{"x":[0.13669960265539965,0.625]}],"memo":{"design":{"seed":13352056953937619222,"used":3},"fit":{"evaluations":6,"mean":-0.5258847364786192,"sd":0.25282103769960634,"hyperparameters":{"lengthscales":[0.6643633418683641,0.11620879636220591],"outputscale":0.954555770938202,"noise_variance":0.0009046822650366227},"seed":3672852943462269828,"likelihoods":7},"ledger":{"rounds":6,"measured":3,"eta_hat":1.0,"m_hat":0.0,"next":8,"grid":null}},"diagnostics":{"algorithm":"gp-ei","design_points":0,"model":{"points":6,"pending":0,"failures":2,"refitted":true,"fit":{"evaluations":6,"mean":-0.5258847364786192,"sd":0.25282103769960634,"hyperparameters":{"lengthscales":[0.6643633418683641,0.11620879636220591],"outputscale":0.954555770938202,"noise_variance":0.0009046822650366227},"seed":3672852943462269828,"likelihoods":7},"jitter":0.0,"factor_retries":0,"lifted_pivots":0},"work":{"values":3286,"gradients":54},"inexactness":{"eta_hat":1.0,"m_hat":0.0,"rounds":6,"measured":3,"shift":"minimum over the reference points"},"duplicates_avoided":0},"seconds":0.006457}}');
INSERT INTO "entries" VALUES(1,22,1794962268840,'{"leased":{"number":6,"worker":"ask"}}');
INSERT INTO "entries" VALUES(1,23,1794962268840,'{"leased":{"number":7,"worker":"ask"}}');
INSERT INTO "entries" VALUES(1,24,1794962268840,'{"leased":{"number":8,"worker":"ask"}}');
INSERT INTO "entries" VALUES(1,25,1794962268864,'{"told":{"number":6,"value":0.5,"noise_var":0.02}}');
INSERT INTO "entries" VALUES(1,26,1794962268888,'{"failed":{"number":7,"reason":"the plate broke"}}');
INSERT INTO "entries" VALUES(1,27,1794962268916,'{"late":{"number":6,"value":0.75}}');
INSERT INTO "entries" VALUES(1,28,1794962268942,'{"told":{"number":7,"value":0.125}}');
INSERT INTO "entries" VALUES(1,29,1794962268988,'{"added":{"number":9,"params":{"x":0.125,"layers":2},"choice":{"x":[0.125,0.375]},"value":0.3}}');
INSERT INTO "entries" VALUES(1,30,1794962268988,'{"added":{"number":10,"params":{"x":0.625,"layers":3},"choice":{"x":[0.625,0.625]}}}');
INSERT INTO "entries" VALUES(1,31,1794962269016,'{"defined":{"version":1,"direction":"minimize","seed":4,"algorithm":{"name":"gp-ei","improvement":"log-expected","model":{"kernel":"matern-52","odds":{"start":1.0,"low":0.01,"high":1000.0,"prior":{"log-normal":{"location":4.0,"scale":2.0}}},"ntk":{"depth":2,"weight_sd":1.5,"bias_sd":0.05,"symmetric":false},"isotropic":false,"lengthscale":{"start":0.5,"low":0.005,"high":100.0,"prior":"dimension-scaled"},"lengthscales":[],"outputscale":{"start":1.0,"low":0.01,"high":100.0,"prior":{"log-normal":{"location":1.0,"scale":1.0}}},"noise":{"start":0.0001,"low":1e-6,"high":1.0,"prior":{"log-normal":{"location":2.0,"scale":3.0}}},"standardize":true,"transform":"none","max_points":8000,"fit_points":500,"refit_growth":0.125,"warm_start":true,"pending":"noisy","features":1024},"solver":{"name":"auto","candidates":1000,"polished":4},"measure":"scheduled","initial_points":3,"trust_region":null,"apart":0.0},"duplicates":"avoid","space":{"parameters":{"parameters":{"x":{"type":"float","low":0.0,"high":1.0,"log":false},"layers":{"type":"int","low":1,"high":4,"log":false}},"constraints":{}}}}}');
INSERT INTO "entries" VALUES(1,32,1794962269025,'{"asked":{"first":11,"choices":[{"x":[1.0,0.375]}],"memo":{"design":{"seed":13352056953937619222,"used":3},"fit":{"evaluations":10,"mean":-0.4326484208449253,"sd":0.24119504266450217,"hyperparameters":{"lengthscales":[1.01722655715725,0.0926868486349389],"outputscale":1.1936300962597834,"noise_variance":0.0009064167040621495},"seed":16792039213314212825,"likelihoods":8},"ledger":{"rounds":7,"measured":3,"eta_hat":1.0,"m_hat":0.0,"next":8,"grid":null}},"diagnostics":{"algorithm":"gp-ei","design_points":0,"model":{"points":10,"pending":1,"failures":3,"refitted":true,"fit":{"evaluations":10,"mean":-0.4326484208449253,"sd":0.24119504266450217,"hyperparameters":{"lengthscales":[1.01722655715725,0.0926868486349389],"outputscale":1.1936300962597834,"noise_variance":0.0009064167040621495},"seed":16792039213314212825,"likelihoods":8},"jitter":0.0,"factor_retries":0,"lifted_pivots":0},"work":{"values":1090,"gradients":10},"inexactness":{"eta_hat":1.0,"m_hat":0.0,"rounds":7,"measured":3,"shift":"minimum over the reference points"},"duplicates_avoided":0},"seconds":0.001389543}}');
INSERT INTO "entries" VALUES(1,33,1794962269025,'{"leased":{"number":11,"worker":"ask","until":1794965869025}}');
INSERT INTO "entries" VALUES(1,34,1794962381385,'{"enqueued":{"number":12,"params":{"x":0.4,"layers":1},"choice":{"x":[0.4,0.125]}}}');
INSERT INTO "entries" VALUES(1,35,1794962381386,'{"asked":{"first":13,"choices":[{"x":[0.9966835790546611,0.625]}],"memo":{"design":{"seed":13352056953937619222,"used":3},"fit":{"evaluations":10,"mean":-0.4326484208449253,"sd":0.24119504266450217,"hyperparameters":{"lengthscales":[1.01722655715725,0.0926868486349389],"outputscale":1.1936300962597834,"noise_variance":0.0009064167040621495},"seed":16792039213314212825,"likelihoods":8},"ledger":{"rounds":8,"measured":3,"eta_hat":1.0,"m_hat":0.0,"next":8,"grid":null}},"diagnostics":{"algorithm":"gp-ei","design_points":0,"model":{"points":10,"pending":3,"failures":3,"refitted":false,"fit":{"evaluations":10,"mean":-0.4326484208449253,"sd":0.24119504266450217,"hyperparameters":{"lengthscales":[1.01722655715725,0.0926868486349389],"outputscale":1.1936300962597834,"noise_variance":0.0009064167040621495},"seed":16792039213314212825,"likelihoods":8},"jitter":0.0,"factor_retries":0,"lifted_pivots":0},"work":{"values":1090,"gradients":21},"inexactness":{"eta_hat":1.0,"m_hat":0.0,"rounds":8,"measured":3,"shift":"minimum over the reference points"},"duplicates_avoided":0},"seconds":0.001061603}}');
INSERT INTO "entries" VALUES(1,36,1794962381386,'{"leased":{"number":12,"worker":"somebody","until":1794962390386}}');
INSERT INTO "entries" VALUES(1,37,1794962381386,'{"leased":{"number":13,"worker":"somebody","until":1794962390386}}');
INSERT INTO "entries" VALUES(1,38,1794962381385,'{"renewed":{"worker":"somebody","until":1794962480385}}');
INSERT INTO "entries" VALUES(1,39,1794962381385,'{"released":{"number":13,"lost":false}}');
INSERT INTO "entries" VALUES(1,40,1794962381385,'{"added":{"number":14,"params":{"x":0.9,"layers":4},"choice":{"x":[0.9,0.875]},"value":0.7,"noise_var":0.04}}');
INSERT INTO "entries" VALUES(1,41,1794962381385,'{"added":{"number":15,"params":{"x":0.4,"layers":1},"choice":{"x":[0.4,0.125]}}}');
CREATE TABLE studies (
        id   INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        last INTEGER NOT NULL                   -- position of its last entry
    ) STRICT;
INSERT INTO "studies" VALUES(1,'old',41);
CREATE TABLE trial_entries (                -- which entries concern a trial
        study    INTEGER NOT NULL REFERENCES studies (id),
        trial    INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (study, trial, position)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "trial_entries" VALUES(1,0,2);
INSERT INTO "trial_entries" VALUES(1,0,3);
INSERT INTO "trial_entries" VALUES(1,0,4);
INSERT INTO "trial_entries" VALUES(1,1,2);
INSERT INTO "trial_entries" VALUES(1,1,5);
INSERT INTO "trial_entries" VALUES(1,1,6);
INSERT INTO "trial_entries" VALUES(1,2,7);
INSERT INTO "trial_entries" VALUES(1,2,8);
INSERT INTO "trial_entries" VALUES(1,2,9);
INSERT INTO "trial_entries" VALUES(1,2,10);
INSERT INTO "trial_entries" VALUES(1,2,11);
INSERT INTO "trial_entries" VALUES(1,3,7);
INSERT INTO "trial_entries" VALUES(1,3,12);
INSERT INTO "trial_entries" VALUES(1,3,13);
INSERT INTO "trial_entries" VALUES(1,4,14);
INSERT INTO "trial_entries" VALUES(1,4,15);
INSERT INTO "trial_entries" VALUES(1,4,16);
INSERT INTO "trial_entries" VALUES(1,4,17);
INSERT INTO "trial_entries" VALUES(1,4,18);
INSERT INTO "trial_entries" VALUES(1,5,14);
INSERT INTO "trial_entries" VALUES(1,5,19);
INSERT INTO "trial_entries" VALUES(1,5,20);
INSERT INTO "trial_entries" VALUES(1,6,21);
INSERT INTO "trial_entries" VALUES(1,6,22);
INSERT INTO "trial_entries" VALUES(1,6,25);
INSERT INTO "trial_entries" VALUES(1,6,27);
INSERT INTO "trial_entries" VALUES(1,7,21);
INSERT INTO "trial_entries" VALUES(1,7,23);
INSERT INTO "trial_entries" VALUES(1,7,26);
INSERT INTO "trial_entries" VALUES(1,7,28);
INSERT INTO "trial_entries" VALUES(1,8,21);
INSERT INTO "trial_entries" VALUES(1,8,24);
INSERT INTO "trial_entries" VALUES(1,9,29);
INSERT INTO "trial_entries" VALUES(1,10,30);
INSERT INTO "trial_entries" VALUES(1,11,32);
INSERT INTO "trial_entries" VALUES(1,11,33);
INSERT INTO "trial_entries" VALUES(1,12,34);
INSERT INTO "trial_entries" VALUES(1,12,36);
INSERT INTO "trial_entries" VALUES(1,13,35);
INSERT INTO "trial_entries" VALUES(1,13,37);
INSERT INTO "trial_entries" VALUES(1,13,39);
INSERT INTO "trial_entries" VALUES(1,14,40);
INSERT INTO "trial_entries" VALUES(1,15,41);
COMMIT;
PRAGMA application_id = 1852991348;
PRAGMA user_version = 1;
