edgec_status_t edgec_sample_run(edgec_context_t *context)
{
    if (context == NULL) {
        return EDGEC_ERROR_NULL;
    }
    if (context->arena == NULL) {
        return EDGEC_ERROR_NOT_READY;
    }
    int8_t *const arena = (int8_t *)context->arena;
    /* c_onnx */
    conv2d_s8_0(arena + 432, arena + 0, arena + 680, &params_0);
    step_done(context, 0U, arena + 0, 648U);
    /* d_onnx */
    depthwise_s8_1(arena + 0, arena + 0, &params_1);
    step_done(context, 1U, arena + 0, 200U);
    /* p_onnx */
    gemm_s8_2(arena + 0, arena + 200, &params_2);
    step_done(context, 2U, arena + 200, 200U);
    /* r_onnx */
    conv2d_s8_3(arena + 200, arena + 200, arena + 400, arena + 600, &params_3, &params_4);
    step_done(context, 3U, arena + 400, 200U);
    /* a_onnx */
    add_s8_4(arena + 400, arena + 0, arena + 0, &params_5);
    step_done(context, 4U, arena + 0, 200U);
    /* m_onnx */
    reduce_s8_5(arena + 0, arena + 200, &params_6);
    step_done(context, 5U, arena + 200, 8U);
    /* g_onnx */
    gemm_s8_6(arena + 200, arena + 0, &params_7);
    step_done(context, 6U, arena + 0, 10U);
    /* s_onnx */
    softmax_s8_7(arena + 0, edgec_sample_15_exponentials, arena + 0);
    step_done(context, 7U, arena + 0, 10U);
    return EDGEC_OK;
}
